import { hash } from 'node:crypto'
import type { Brand } from '../config/brand.ts'
import { type Colours, ownColours, type Shades } from '../config/brand-colours.ts'
import { icon } from './icon.ts'
import { type StaticAnswer, sendStatic } from './static.ts'
import { type DoorPlan, doorOf, openPassage } from './threshold.ts'

/** A brand whose files have URLs. */
export interface ShownBrand extends Omit<Brand, 'logo'> {
  /** URL paths; null for the logo and the colours of Satchel. */
  logo: string | null
  style: string | null
}

function styleOf({ light, dark }: Colours): string {
  const token = (name: string, key: keyof Shades) =>
    `  --${name}: light-dark(${light[key]}, ${dark[key]});`
  // The doubled selector has priority over tokens.css wherever that is loaded.
  return `:root:root,
[data-stage][data-stage] {
${token('accent', 'accent')}
${token('accent-strong', 'strong')}
${token('on-accent', 'on')}
${token('tint', 'tint')}
${token('glow', 'glow')}
}
`
}

/** A file with a tag by which browsers ask whether it has changed. Too small to compress. */
const fileOf = (plain: Buffer, headers: Record<string, string>): StaticAnswer => ({
  plain,
  packed: [],
  headers: { 'cache-control': 'public, max-age=86400', etag: etagOf(plain), ...headers },
})

const etagOf = (plain: Buffer) => `"${hash('md5', plain)}"`

/** A URL that changes with the content. During an update, every instance has an answer for it. */
const urlOf = (path: string, { plain }: StaticAnswer) =>
  `${path}?v=${hash('sha256', plain).slice(0, 16)}`

/** A logo in SVG that is opened as a page of its own runs no scripts. */
const NO_SCRIPTS = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

/** The brand with the files that pages load, and the doors that serve them. */
export function openBrand(brand: Brand): { shown: ShownBrand; doors: DoorPlan[] } {
  const files = new Map<string, StaticAnswer>()
  let logo: string | null = null
  let style: string | null = null
  if (brand.logo) {
    const file = fileOf(brand.logo.bytes, {
      'content-type': brand.logo.type,
      'content-security-policy': NO_SCRIPTS,
    })
    files.set('/brand/logo', file)
    logo = urlOf('/brand/logo', file)
  }
  if (brand.colours !== ownColours) {
    const file = fileOf(Buffer.from(styleOf(brand.colours)), {
      'content-type': 'text/css; charset=utf-8',
    })
    files.set('/brand/style.css', file)
    style = urlOf('/brand/style.css', file)
  }
  const tabIcon = tabIconOf(brand)
  // The paths where browsers request a site's icon by default, and the path that pages name.
  for (const path of ['/favicon.ico', '/favicon.svg']) files.set(path, tabIcon)
  const doors = [...files].map(([path, answer]) =>
    doorOf(openPassage(path, ({ req, res }) => sendStatic(req, res, answer))),
  )
  return { shown: { ...brand, logo, style }, doors }
}

/** The icon of browser tabs. Browsers read its type from its bytes, not from its path. */
function tabIconOf({ logo, colours }: Brand): StaticAnswer {
  if (logo)
    return fileOf(logo.bytes, { 'content-type': logo.type, 'content-security-policy': NO_SCRIPTS })
  const drawn = icon.replace(ownColours.light.accent, colours.light.accent)
  return fileOf(Buffer.from(drawn), { 'content-type': 'image/svg+xml' })
}
