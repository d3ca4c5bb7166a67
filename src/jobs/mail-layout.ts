import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'

export interface MailText {
  subject: string
  text: string
  html: string
}

/** Text given by a person, inside a sentence: it keeps its own direction. */
interface Given {
  given: string
}
type Sentence = (string | Given)[]

interface Link {
  title: string
  url: string
}

/** What a mail says, in the order in which it says it. */
export interface Parts {
  subject: string
  lines: (string | Sentence)[]
  /** A message from a person to the recipient, in lines. */
  words?: { by: string; lines: string[] } | undefined
  /** What it is about, one by one: each with its own link, unless the only button leads there. */
  items?: { name: string; about: string; url?: string | undefined }[]
  /** Short facts, such as until when. */
  facts?: { name: string; value: string }[]
  /** The first is the button. */
  links: Link[]
  /** Why the recipient gets it. */
  closing: string
  /** Where such mails are stopped. */
  stop?: string | undefined
}

/** A sentence with what people have given in it. */
export const sentence = (
  strings: TemplateStringsArray,
  ...parts: (string | Sentence)[]
): Sentence =>
  strings.flatMap((text, i) => {
    const part = parts[i]
    return [
      text,
      ...(part === undefined ? [] : typeof part === 'string' ? [{ given: part }] : part),
    ]
  })

const plain = (line: string | Sentence): string =>
  typeof line === 'string'
    ? line
    : line.map(part => (typeof part === 'string' ? part : part.given)).join('')

const eta = new Eta({
  views: fileURLToPath(new URL('views', import.meta.url)),
  cache: true,
  autoTrim: ['nl', 'nl'],
})

/** Lays out a mail as text and as HTML, in the one template of all mails. */
export function compose(parts: Parts): MailText {
  const { subject, lines, words, items = [], facts = [], links, closing, stop } = parts
  const text = [
    ...lines.map(plain),
    ...(words
      ? [[`${words.by} writes:`, ...words.lines.map(line => `> ${line}`.trimEnd())].join('\n')]
      : []),
    ...items.map(({ name, about, url }) =>
      [about ? `${name} (${about})` : name, ...(url ? [url] : [])].join('\n'),
    ),
    ...(facts.length > 0 ? [facts.map(({ name, value }) => `${name}: ${value}`).join('\n')] : []),
    ...links.map(({ title, url }) => `${title}:\n${url}`),
    ['--', closing, ...(stop ? [`Stop such mails to your address: ${stop}`] : [])].join('\n'),
  ].join('\n\n')
  const segments = lines.map(line => (typeof line === 'string' ? [line] : line))
  const [button, ...more] = links
  return {
    subject,
    text,
    html: eta.render('/mail', { ...parts, words, items, facts, segments, button, more }),
  }
}
