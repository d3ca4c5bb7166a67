import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { coloursOf, ownColours } from '../../src/config/brand-colours.ts'
import { contrastOf } from '../../src/config/colour.ts'
import { readConfig } from '../../src/config/config.ts'

const tokens = readFileSync('src/pages/views/tokens.css', 'utf8')
const token = (name: string): [string, string] => {
  const [, light = '', dark = ''] =
    new RegExp(`--${name}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(tokens) ?? []
  const long = (hex: string) => (hex.length === 4 ? hex.replace(/\w/g, '$&$&') : hex)
  return [long(light), long(dark)]
}

describe('The colours of a brand', () => {
  it('without a setting are those of the style sheet', () => {
    const { light, dark } = ownColours
    for (const [name, key] of [
      ['accent', 'accent'],
      ['accent-strong', 'strong'],
      ['on-accent', 'on'],
      ['tint', 'tint'],
      ['glow', 'glow'],
    ] as const)
      expect([name, light[key], dark[key]]).toEqual([name, ...token(name)])
  })

  it.each(['#000000', '#ffffff', '#ffff00', '#00ff00', '#0000ff', '#ff0000', '#777777', '#e91e63'])(
    'are readable on every background of both themes: %s',
    colour => {
      const { light, dark } = coloursOf(colour)
      const grounds = [token('paper'), token('card')]
      for (const [i, shades] of [light, dark].entries())
        for (const ground of [...grounds.map(pair => pair[i] ?? ''), shades.tint]) {
          expect(contrastOf(shades.accent, ground)).toBeGreaterThanOrEqual(4.5)
          expect(contrastOf(shades.on, shades.accent)).toBeGreaterThanOrEqual(4.5)
        }
    },
  )

  it('keep a colour that can be read', () => {
    expect(coloursOf('#7a1f5f').light.accent).toBe('#7a1f5f')
    expect(coloursOf('#f0a0d0').dark.accent).toBe('#f0a0d0')
  })
})

describe('The settings of a brand', () => {
  let dir: string
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'satchel-brand-'))
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))
  const file = (name: string, content: string | Buffer) => {
    writeFileSync(join(dir, name), content)
    return join(dir, name)
  }

  it.each([
    ['logo.svg', '<?xml version="1.0"?>\n<!-- drawn -->\n<svg xmlns="x"/>', 'image/svg+xml'],
    ['logo.png', Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1'), 'image/png'],
    ['logo.txt', 'RIFF1234WEBPrest', 'image/webp'],
  ])('recognize a logo by its bytes: %s', (name, content, type) => {
    expect(readConfig({ BRAND_LOGO: file(name, content) }).brand.logo?.type).toBe(type)
  })

  it.each([
    ['BRAND_NAME', 'two\nlines', 'must be one line without control characters'],
    ['BRAND_NAME', 'x'.repeat(41), '<=40 characters'],
    ['BRAND_COLOUR', 'blue', 'must be a colour like #1f5fbf'],
    ['HELP_URL', 'javascript:alert(1)', 'Invalid URL'],
    ['PRIVACY_URL', 'privacy', 'Invalid URL'],
    ['BRAND_LOGO', '/none.svg', 'cannot be read'],
  ])('reject wrong values: %s=%j', (name, value, problem) => {
    expect(() => readConfig({ [name]: value })).toThrow(problem)
  })

  it('reject a logo that is large or no picture', () => {
    const html = file('logo.html', '<html><svg></svg></html>')
    expect(() => readConfig({ BRAND_LOGO: html })).toThrow('is not an SVG, PNG or WebP file')
    const large = file('large.svg', `<svg>${' '.repeat(256 * 1024)}</svg>`)
    expect(() => readConfig({ BRAND_LOGO: large })).toThrow('has more than 256 KiB')
  })
})
