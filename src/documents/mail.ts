import PostalMime, { type Email } from 'postal-mime'
import { BoundedText } from './bounded-text.ts'
import { decode } from './decode.ts'
import { textOfHtml } from './html.ts'

/** The most nested messages, messages of a mailbox, and attachments of one. */
const DEPTH = 5
const MESSAGES = 2000
const ATTACHMENTS = 200

const encoder = new TextEncoder()

/** The position of the first empty line. */
function bodyOf(bytes: Uint8Array): number {
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) {
    if (bytes[at + 1] === 10) return at + 1
    if (bytes[at + 1] === 13 && bytes[at + 2] === 10) return at + 1
  }
  return bytes.length
}

const isUtf8 = (bytes: Uint8Array): boolean => {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

/**
 * A message as UTF-8 where it does not say what it is: headers without an encoding, and bodies
 * without a character set.
 */
function asUtf8(bytes: Uint8Array): Uint8Array {
  if (isUtf8(bytes)) return bytes
  const start = bodyOf(bytes)
  const says = /charset\s*\*?\d?\*?=/i.test(new TextDecoder('latin1').decode(bytes))
  if (!says) return encoder.encode(decode(bytes))
  const head = bytes.subarray(0, start)
  if (isUtf8(head)) return bytes
  const headers = encoder.encode(decode(head))
  const all = new Uint8Array(headers.length + bytes.length - start)
  all.set(headers)
  all.set(bytes.subarray(start), headers.length)
  return all
}

/**
 * The messages of a mailbox file. A line that begins with `From ` and follows an empty line begins
 * a message.
 */
function messagesIn(bytes: Uint8Array): Uint8Array[] {
  const text = new TextDecoder('latin1').decode(bytes)
  if (!/^\s*From \S/.test(text)) return [bytes]
  const starts = [...text.matchAll(/(?:^|\r?\n\r?\n)\s*(From \S[^\n]*\n)/g)].slice(0, MESSAGES)
  return starts.map((found, at) =>
    bytes.subarray(found.index + found[0].length, starts[at + 1]?.index ?? bytes.length),
  )
}

/** Whether bytes begin with headers of a message. */
const hasHeaders = (bytes: Uint8Array): boolean =>
  /^(\ufeff|\s)*(?:[\w-]{1,60}:[^\n]*\n(?:[ \t][^\n]*\n)*){2}/.test(
    `${new TextDecoder().decode(bytes.subarray(0, 4096))}\n`,
  )

/**
 * The text of an e-mail, a saved web page (MHTML) or a mailbox: senders, recipients, subjects,
 * bodies, names of attachments, and forwarded messages.
 */
export async function textOfMail(bytes: Uint8Array): Promise<string> {
  const text = new BoundedText()
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  const messages = messagesIn(bytes.subarray(start))
  if (messages.length === 1 && messages[0] && !hasHeaders(messages[0])) return decode(bytes)
  for (const message of messages) {
    if (text.isFull) break
    await addMessage(message, text, 0)
  }
  return text.toString()
}

async function addMessage(bytes: Uint8Array, text: BoundedText, depth: number): Promise<void> {
  const mail = await PostalMime.parse(asUtf8(bytes), {
    maxNestingDepth: 40,
    rfc822Attachments: true,
  })
  for (const line of headersOf(mail)) text.add(`${line}\n`)
  text.add('\n')
  const plain = mail.text ?? ''
  // A message may have an empty plain part beside its text, or say in plain that it is HTML.
  const html = mail.html === undefined ? '' : textOfHtml(mail.html)
  text.add(`${plain.trim().length * 4 > html.trim().length ? plain : html}\n`)
  for (const { filename, mimeType, content } of mail.attachments.slice(0, ATTACHMENTS)) {
    if (filename) text.add(`${filename}\n`)
    if (mimeType === 'message/rfc822' && depth < DEPTH && content instanceof ArrayBuffer)
      await addMessage(new Uint8Array(content), text, depth + 1)
    if (mimeType === 'text/calendar' && typeof content !== 'string')
      text.add(`${decode(new Uint8Array(content))}\n`)
  }
}

function headersOf(mail: Email): string[] {
  const people = [mail.from, ...(mail.to ?? []), ...(mail.cc ?? [])].flatMap(one =>
    one ? (one.group ?? [one]) : [],
  )
  const named = people.map(({ name, address }) => [name, address].filter(Boolean).join(' '))
  const date = mail.headers.find(({ key }) => key === 'date')?.value
  return [mail.subject, ...named, date].filter(
    line => line !== undefined && line !== '',
  ) as string[]
}
