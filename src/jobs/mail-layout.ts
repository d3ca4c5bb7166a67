import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'

export interface MailText {
  subject: string
  text: string
  html: string
}

/** User-supplied text inside a sentence, which keeps its own text direction. */
interface Given {
  given: string
}
type Sentence = (string | Given)[]

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

/** A sentence with user-supplied texts in it. */
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

/** Formats a mail as text and as HTML, with the template that all mails share. */
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
