import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'
import type { Brand } from '../config/brand.ts'
import { branded, catalogue, type Say } from '../language/catalogue.ts'
import type { Language } from '../language/languages.ts'
import de from './messages/de.json' with { type: 'json' }
import en from './messages/en.json' with { type: 'json' }

export type MailKey = keyof typeof en

export interface MailText {
  subject: string
  text: string
  html: string
}

/** User-supplied text inside a sentence, which keeps its own text direction. */
interface Given {
  given: string
}
export type Sentence = (string | Given)[]

interface Link {
  title: string
  url: string
}

/** The parts of a mail in their order. */
export interface Parts {
  subject: string
  lines: (string | Sentence)[]
  /** A message from a person to the recipient, in lines. */
  words?: { by: string; lines: string[] } | undefined
  /** The subjects of the mail. Each has its own link, unless the only button leads there. */
  items?: { name: string; about: string; url?: string | undefined }[]
  /** Short facts, such as the expiry. */
  facts?: { name: string; value: string }[]
  /** The first link is the button. */
  links: Link[]
  /** Why the recipient receives this mail. */
  closing: string
  /** The link to unsubscribe. */
  stop?: string | undefined
}

/** The messages of mails in one language. */
export interface MailWords {
  language: Language
  brand: Brand
  say: Say<MailKey>
  /** A message in which each value is user-supplied text, except for numbers and sentences. */
  sentence(key: MailKey, values: Record<string, string | number | Sentence>): Sentence
}

const catalogues = catalogue({ en, de })

export function mailWords(language: Language, brand: Brand): MailWords {
  const say = branded(catalogues[language], brand.name)
  return {
    language,
    brand,
    say,
    sentence(key, values) {
      const given: Sentence[] = []
      const marked = Object.entries(values).map(([name, value]) => {
        if (typeof value === 'number') return [name, value]
        const parts = typeof value === 'string' ? [{ given: value }] : value
        return [name, `\u{e000}${given.push(parts) - 1}\u{e000}`]
      })
      const pieces = say(key, Object.fromEntries(marked)).split('\u{e000}')
      return pieces.flatMap((piece, i) => (i % 2 === 0 ? [piece] : (given[Number(piece)] ?? [])))
    },
  }
}

const plain = (line: string | Sentence): string =>
  typeof line === 'string'
    ? line
    : line.map(part => (typeof part === 'string' ? part : part.given)).join('')

const eta = new Eta({
  views: fileURLToPath(new URL('views', import.meta.url)),
  cache: true,
  autoTrim: ['nl', 'nl'],
})

/** Formats a mail as text and as HTML, with the template that all mails share. */
export function compose(parts: Parts, { language, brand, say }: MailWords): MailText {
  const { subject, lines, words, items = [], facts = [], links, closing, stop } = parts
  const text = [
    ...lines.map(plain),
    ...(words
      ? [
          [
            say('writes', { name: words.by }),
            ...words.lines.map(line => `> ${line}`.trimEnd()),
          ].join('\n'),
        ]
      : []),
    ...items.map(({ name, about, url }) =>
      [about ? `${name} (${about})` : name, ...(url ? [url] : [])].join('\n'),
    ),
    ...(facts.length > 0 ? [facts.map(({ name, value }) => `${name}: ${value}`).join('\n')] : []),
    ...links.map(({ title, url }) => `${title}:\n${url}`),
    ['--', closing, ...(stop ? [`${say('stop')}: ${stop}`] : [])].join('\n'),
  ].join('\n\n')
  const segments = lines.map(line => (typeof line === 'string' ? [line] : line))
  const [button, ...more] = links
  return {
    subject,
    text,
    html: eta.render('/mail', {
      ...parts,
      words,
      items,
      facts,
      segments,
      button,
      more,
      language,
      brand,
      say,
    }),
  }
}
