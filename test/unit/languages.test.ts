import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { acceptedLanguage } from '../../src/language/accept-language.ts'
import { compileMessages } from '../../src/language/build/messages.ts'
import { languages } from '../../src/language/languages.ts'

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).map(file => `src/${file}`)
const read = (file: string) => readFileSync(file, 'utf8')
const catalogues = files.filter(file => file.endsWith('/messages/en.json'))
/** Its keys are not used: messages are found by their English text. */
const REFUSALS = 'src/pages/refusals/messages/en.json'
const others = languages.filter(language => language !== 'en')
type Catalogue = Record<string, string>
const catalogueOf = (file: string, language: string): Catalogue =>
  JSON.parse(read(file.replace('en.json', `${language}.json`)))

/** The placeholders of a message. The branches of a plural have braces, too. */
const placesOf = (message: string) =>
  [
    ...new Set(
      [...message.matchAll(/(?<!\b(?:one|other|=\d+)\s*)\{(\w+)\s*[,}]/g)].map(([, name]) => name),
    ),
  ].sort()

describe('The message catalogues', () => {
  it('exist for the console, the pages and the mails', () => {
    expect(catalogues).toEqual(
      expect.arrayContaining([
        'src/console/shell/messages/en.json',
        'src/jobs/messages/en.json',
        'src/pages/messages/en.json',
        'src/sign-in/embedded/messages/en.json',
      ]),
    )
  })

  it.each(catalogues)('%s: every language has the same messages, which can be parsed', file => {
    const en = catalogueOf(file, 'en')
    expect(() => compileMessages(JSON.stringify(en))).not.toThrow()
    for (const language of others) {
      const other = catalogueOf(file, language)
      expect(Object.keys(other)).toEqual(Object.keys(en))
      expect(() => compileMessages(JSON.stringify(other))).not.toThrow()
      for (const key of Object.keys(en))
        expect([key, placesOf(other[key] ?? '')]).toEqual([key, placesOf(en[key] ?? '')])
    }
  })

  it.each(catalogues)('%s: German uses the informal address', file => {
    // "Sie" at the start of a sentence means "they".
    const formal = /[\p{L},] (Sie|Ihnen|Ihre?[nmrs]?)\b|^(Ihre?[nmrs]?|Ihnen)\b/u
    const messages = Object.values(catalogueOf(file, 'de'))
    expect(messages.filter(message => formal.test(message))).toEqual([])
  })

  it('translate messages of the service word for word', () => {
    const code = files
      .filter(file => /\.ts$/.test(file))
      .map(read)
      .join('\n')
    const messages = Object.values(catalogueOf(REFUSALS, 'en'))
    expect(messages.filter(message => !code.includes(`'${message}'`))).toEqual([])
  })

  it.each(catalogues.filter(file => file !== REFUSALS))('%s: every message is used', file => {
    const dir = file.replace(/messages\/en\.json$/, '')
    const code = files
      .filter(name => name.startsWith(dir) && /\.(tsx?|eta)$/.test(name))
      // The account pages show the codes of problems.
      .concat(['login-problem', 'password-rule'].map(name => `src/services/accounts/${name}.ts`))
      .map(read)
      .join('\n')
    const quoted = (key: string) => new RegExp(`['"\`]${key}['"\`]`).test(code)
    const used = (key: string) => quoted(key) || (/_title$/.test(key) && quoted(key.slice(0, -6)))
    expect(Object.keys(catalogueOf(file, 'en')).filter(key => !used(key))).toEqual([])
  })
})

describe('The templates of pages and mails', () => {
  const templates = files.filter(
    file =>
      file.endsWith('.eta') && catalogues.includes(file.replace(/views\/.*/, 'messages/en.json')),
  )

  it.each(templates)('%s: has no words outside of the catalogues', file => {
    const markup = read(file)
      .replace(/<%[\s\S]*?%>/g, '\u0000')
      .replace(/<style>[\s\S]*?<\/style>|<!--[\s\S]*?-->/g, '')
      .replaceAll('Satchel', '')
    const spoken = [
      ...markup.matchAll(/\b(?:aria-label|alt|title|placeholder|content)="([^"\0]*)"/g),
    ]
      .map(([, words = '']) => words)
      .filter(words => !/^width=device-width|^light dark$/.test(words))
    const texts = markup
      .replace(/<[^>]*>/g, '\n')
      .split(/[\n\0]/)
      .map(text => text.replace(/&\w+;/g, ''))
    expect([...texts, ...spoken].filter(text => /\p{L}/u.test(text))).toEqual([])
  })
})

describe('The language of a browser', () => {
  it.each([
    ['de-AT,de;q=0.9,en;q=0.8', 'de'],
    ['fr, en;q=0.2, de;q=0.7', 'de'],
    ['DE', 'de'],
    ['de;q=0, en', 'en'],
    ['fr-CH, fr;q=0.9', 'en'],
    ['', 'en'],
    [undefined, 'en'],
    [';;;=,q=9', 'en'],
  ])('%s is %s', (header, language) => expect(acceptedLanguage(header)).toBe(language))
})
