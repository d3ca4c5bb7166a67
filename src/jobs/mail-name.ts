import mime from 'mime'
import { MAX_MESSAGE } from '../values/limits.ts'
import { oneLine } from '../values/one-line.ts'

const MAX_NAME = 64
const scheme = /\b[a-z][a-z\d+.-]*:\/+|\bwww\./giu
/**
 * Matches what mail programs turn into links: a dot between labels, the last of which has at least
 * two letters, and an IPv4 address.
 */
const domainDot = /(?<=[\p{L}\p{N}-])[.\u3002\uff0e\uff61](?=[\p{L}\p{N}-]{2})/gu
/** Matches the characters after the domain of a URL, including look-alikes. */
const afterDomain = /(?<=\.\p{L}{2,24})[?#:&=/\\\u2044\u2215\uff0f]+/gu
/** File extensions that are also top-level domains. */
const domainEndings = new Set([
  '.com',
  '.zip',
  '.mov',
  '.app',
  '.sh',
  '.md',
  '.py',
  '.rs',
  '.pl',
  '.ps',
  '.ai',
  '.cab',
  '.cat',
  '.doc',
  '.so',
])
const ipv4 = /\d{1,3}(?:\.\d{1,3}){3}/g

const cut = (text: string, max: number): string => {
  const characters = [...text]
  return characters.length > max
    ? `${characters
        .slice(0, max - 1)
        .join('')
        .trimEnd()}…`
    : text
}

const withoutLinks = (text: string): string =>
  text
    .replace(/\p{Cf}/gu, '')
    .replace(scheme, '')
    .replace(afterDomain, ' ')
    .replace(ipv4, address => address.replaceAll('.', ' '))
    .replace(domainDot, ' ')
    .replaceAll('@', ' at ')
    .replace(/\s+/gu, ' ')
    .trim()

/**
 * The name of a user or workspace as one line of at most 64 characters, which no mail program turns
 * into a link.
 */
export const plainName = (text: string): string => cut(withoutLinks(oneLine(text)), MAX_NAME)

/** A personal message, in lines that no mail program turns into links. */
export function plainLines(text: string): string[] {
  const lines = text.split(/\r\n?|\n/).map(line => withoutLinks(oneLine(line)))
  const kept = cut(lines.join('\n').trim(), MAX_MESSAGE)
  return kept === '' ? [] : kept.replace(/\n{3,}/g, '\n\n').split('\n')
}

/** A file name, which keeps known extensions. Empty if nothing of it can be shown. */
export const plainFileName = (text: string): string => withEnding(oneLine(text), MAX_NAME)

function withEnding(line: string, max: number): string {
  const [, stem = '', ending = ''] = /^(.*)(\.[a-z\d]{1,8})$/isu.exec(line) ?? []
  const isKnown = !domainEndings.has(ending.toLowerCase()) && mime.getType(`./x${ending}`) !== null
  return isKnown ? withEnding(stem, max - ending.length) + ending : cut(withoutLinks(line), max)
}
