import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import { type Colours, coloursOf, ownColours } from './brand-colours.ts'

const MAX_LOGO_BYTES = 256 * 1024

const link = (help: string) => ({
  help,
  default: '',
  shown: 'none',
  read: z.url({ protocol: /^(https?|mailto)$/ }).or(z.literal('')),
})

/** How an installation presents itself. */
export const brandSettings = {
  BRAND_NAME: {
    help: 'name of this service on pages, in mails, in the console and in apps',
    default: 'Satchel',
    read: z
      .string()
      .trim()
      .min(1)
      .max(40)
      .regex(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, 'must be one line without control characters'),
  },
  BRAND_COLOUR: {
    help: 'colour of links and buttons, as #rrggbb; made lighter or darker where it could not be read',
    default: '',
    shown: 'blue',
    read: z
      .string()
      .regex(/^(#[\da-f]{6})?$/i, 'must be a colour like #1f5fbf')
      .toLowerCase(),
  },
  BRAND_LOGO: {
    help: 'SVG, PNG or WebP file of up to 256 KiB, shown beside the name and as the icon of browser tabs',
    default: '',
    shown: 'the satchel',
    read: z.string(),
  },
  HELP_URL: link('where people of this service find help: https:// or mailto:'),
  IMPRINT_URL: link('page with the imprint of the operator, linked from every page'),
  PRIVACY_URL: link('page with the privacy policy of the operator, linked from every page'),
}

export type BrandValues = {
  [K in keyof typeof brandSettings]: z.output<(typeof brandSettings)[K]['read']>
}

export interface Brand {
  name: string
  colours: Colours
  /** Null for the logo of Satchel. */
  logo: { bytes: Buffer; type: string } | null
  /** Empty if there is no such page. */
  links: { help: string; imprint: string; privacy: string }
}

/** Satchel as it is without settings. */
export const ownBrand: Brand = {
  name: 'Satchel',
  colours: ownColours,
  logo: null,
  links: { help: '', imprint: '', privacy: '' },
}

export const readBrand = (values: BrandValues, problems: string[]): Brand => ({
  name: values.BRAND_NAME,
  colours: values.BRAND_COLOUR ? coloursOf(values.BRAND_COLOUR) : ownColours,
  logo: values.BRAND_LOGO ? readLogo(values.BRAND_LOGO, problems) : null,
  links: { help: values.HELP_URL, imprint: values.IMPRINT_URL, privacy: values.PRIVACY_URL },
})

function readLogo(file: string, problems: string[]): Brand['logo'] {
  const path = resolve(file)
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (error) {
    problems.push(
      `BRAND_LOGO: ${path} cannot be read (${error instanceof Error ? error.message : error})`,
    )
    return null
  }
  const type = typeOf(bytes)
  if (bytes.length > MAX_LOGO_BYTES) problems.push(`BRAND_LOGO: ${path} has more than 256 KiB`)
  else if (!type) problems.push(`BRAND_LOGO: ${path} is not an SVG, PNG or WebP file`)
  return type ? { bytes, type } : null
}

function typeOf(bytes: Buffer): string | null {
  if (bytes.subarray(0, 8).equals(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'))) return 'image/png'
  if (bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP')
    return 'image/webp'
  if (
    /^\ufeff?\s*(<\?xml[^>]*>|<!--[\s\S]*?-->|<!DOCTYPE[^>]*>|\s)*<svg[\s>]/i.test(
      bytes.toString('utf8'),
    )
  )
    return 'image/svg+xml'
  return null
}
