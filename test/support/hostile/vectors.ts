import { gzipSync } from 'node:zlib'
import { be16, be32, type Hostile, join, text, zeros } from './hostile.ts'

const svg = (content: string, attributes = 'width="50" height="50"') =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${content}</svg>`

const rectangle = '<rect width="50" height="50"/>'

/**
 * Drawings with external references or scripts. Their own content may be rendered, without the
 * references and scripts.
 */
const foreign = (host: string): [string, string][] => [
  ['script', svg(`<script>fetch('${host}/script')</script>${rectangle}`)],
  ['script-elsewhere', svg(`<script href="${host}/s.js"/>${rectangle}`)],
  ['handler', svg(`<rect width="50" height="50" onload="fetch('${host}/on')"/>`)],
  ['image', svg(`<image href="${host}/i.png" width="50" height="50"/>`)],
  ['image-old', svg(`<image xlink:href="${host}/i.svg" width="50" height="50"/>`)],
  ['image-file', svg('<image href="file:///etc/passwd" width="50" height="50"/>')],
  ['image-parent', svg('<image href="../../../../etc/passwd" width="50" height="50"/>')],
  ['use', svg(`<use href="${host}/u.svg#a"/>`)],
  ['style-import', svg(`<style>@import url(${host}/c.css);</style>${rectangle}`)],
  [
    'style-font',
    svg(
      `<style>@font-face{font-family:x;src:url(${host}/f.woff)}</style><text y="20" font-family="x">a</text>`,
    ),
  ],
  ['style-background', svg(`<rect width="50" height="50" style="fill:url(${host}/f#p)"/>`)],
  ['stylesheet', `<?xml version="1.0"?><?xml-stylesheet href="${host}/s.css"?>${svg(rectangle)}`],
  [
    'filter-image',
    svg(
      `<filter id="f"><feImage href="${host}/f.png"/></filter><rect width="50" height="50" filter="url(#f)"/>`,
    ),
  ],
  [
    'include',
    svg(
      `<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="${host}/x" parse="text"/>${rectangle}`,
    ),
  ],
  [
    'frame',
    svg(
      `<foreignObject width="50" height="50"><iframe xmlns="http://www.w3.org/1999/xhtml" src="${host}/frame"/></foreignObject>`,
    ),
  ],
  ['document-type', `<!DOCTYPE svg PUBLIC "-//X" "${host}/x.dtd">${svg(rectangle)}`],
  ['entity', `<!DOCTYPE svg [<!ENTITY x SYSTEM "${host}/x">]>${svg('<text y="20">&x;</text>')}`],
  [
    'entity-file',
    `<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>${svg('<text y="20">&x;</text>')}`,
  ],
  ['entity-parameter', `<!DOCTYPE svg [<!ENTITY % x SYSTEM "${host}/x"> %x;]>${svg(rectangle)}`],
  [
    'data',
    svg(
      `<image width="50" height="50" href="data:image/svg+xml,${encodeURIComponent(svg(`<image href="${host}/n"/>`))}"/>`,
    ),
  ],
]

function bombs(): [string, string | Buffer][] {
  const laughs = Array.from(
    { length: 12 },
    (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`,
  ).join('')
  const uses = Array.from(
    { length: 30 },
    (_, i) => `<g id="g${i + 1}">${`<use href="#g${i}"/>`.repeat(10)}</g>`,
  ).join('')
  return [
    ['laughs', `<!DOCTYPE svg [<!ENTITY l0 "ha">${laughs}]>${svg('<text y="20">&l12;</text>')}`],
    ['uses', svg(`<defs><rect id="g0" width="9" height="9"/>${uses}</defs><use href="#g30"/>`)],
    [
      'use-of-itself',
      svg('<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g><use href="#a"/>'),
    ],
    [
      'pattern-of-itself',
      svg(
        '<pattern id="p" width="1" height="1"><rect width="50" height="50" fill="url(#p)"/></pattern><rect width="50" height="50" fill="url(#p)"/>',
      ),
    ],
    [
      'mask-of-itself',
      svg(
        '<mask id="m"><rect width="50" height="50" mask="url(#m)"/></mask><rect width="50" height="50" mask="url(#m)"/>',
      ),
    ],
    [
      'blur',
      svg(
        '<filter id="f"><feGaussianBlur stdDeviation="1e9"/></filter><rect width="9000" height="9000" filter="url(#f)"/>',
        'width="9000" height="9000"',
      ),
    ],
    [
      'turbulence',
      svg(
        `<filter id="f">${'<feTurbulence baseFrequency="0.9" numOctaves="200"/><feGaussianBlur stdDeviation="400"/>'.repeat(20)}</filter><rect width="9000" height="9000" filter="url(#f)"/>`,
        'width="9000" height="9000"',
      ),
    ],
    [
      'matrix',
      svg(
        '<filter id="f"><feConvolveMatrix order="99999" kernelMatrix="1"/><feMorphology radius="9999999"/></filter><rect width="50" height="50" filter="url(#f)"/>',
      ),
    ],
    ['size', svg(rectangle, 'width="99999999" height="99999999"')],
    ['size-negative', svg(rectangle, 'width="-5" height="-5"')],
    ['size-none', svg(rectangle, 'viewBox="0 0 0 0"')],
    ['size-relative', svg(rectangle, 'width="1e30em" height="1e30em"')],
    ['deep', svg(`${'<g>'.repeat(100_000)}${'</g>'.repeat(100_000)}`)],
    [
      'path',
      svg(
        `<path d="M0 0${'a9 9 0 1 1 9 9'.repeat(120_000)}" stroke="#000" stroke-width="9" stroke-dasharray="0.00001"/>`,
      ),
    ],
    ['dashes', svg('<path d="M0 0H1e9" stroke="#000" stroke-dasharray="1e-9"/>')],
    ['text', svg(`<text y="20" font-size="1e9">${'W'.repeat(1_500_000)}</text>`)],
    ['too-long', svg(`<text>${'W'.repeat(3_000_000)}</text>`)],
    ['packed', gzipSync(text(svg(`<text>${' '.repeat(100_000_000)}</text>`)))],
    ['not-closed', '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><g>'],
    [
      'other-encoding',
      Buffer.from(`\ufeff<?xml version="1.0" encoding="utf-16"?>${svg(rectangle)}`, 'utf16le'),
    ],
  ]
}

/** Fonts with the extensions of pictures. */
function fonts(): Hostile[] {
  const tables = (tag: string) =>
    join(
      tag,
      be16(0xffff, 16, 0, 0),
      ...['glyf', 'loca', 'cmap', 'fpgm'].map(name => join(name, be32(0, 0xfffffff0, 0xfffffff0))),
      zeros(2000),
    )
  const made: [string, Buffer][] = [
    ['ttf.png', tables('\0\x01\0\0')],
    ['otf.jpg', tables('OTTO')],
    ['woff.gif', tables('wOFF')],
    ['woff2.webp', tables('wOF2')],
    ['collection.svg', join('ttcf', be32(0x10000, 0xffffffff), zeros(400))],
    ['type1.pdf', text('%!PS-AdobeFont-1.0: x\n/Private 9 dict dup begin\n{} loop\n')],
  ]
  const types: Record<string, string> = {
    png: 'image/png',
    jpg: 'image/jpeg',
    gif: 'image/gif',
    webp: 'image/webp',
    svg: 'image/svg+xml',
    pdf: 'application/pdf',
  }
  return made.map(([name, bytes]) => ({
    of: 'font',
    name,
    mediaType: types[name.split('.')[1] ?? ''] ?? '',
    bytes,
  }))
}

export function hostileVectors(host: string): Hostile[] {
  const drawings = [...foreign(host), ...bombs()]
  return [
    // A rendering by librsvg contains nothing from external resources.
    ...drawings.map(([name, content]) => ({
      of: 'SVG',
      name: `${name}.svg`,
      mediaType: 'image/svg+xml',
      bytes: Buffer.from(content as string),
      mayShow: true,
    })),
    ...fonts(),
  ]
}
