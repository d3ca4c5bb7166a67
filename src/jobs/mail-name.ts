import mime from 'mime'
import { MAX_MESSAGE } from '../values/limits.ts'
import { oneLine } from '../values/one-line.ts'

const MAX_NAME = 64
const scheme = /\b[a-z][a-z\d+.-]*:\/+|\bwww\./giu
/**
 * What mail programs make a link of: a dot between labels, the last of which has two letters or
 * more; and an IPv4 address.
 */
const domainDot = /(?<=[\p{L}\p{N}-])[.\u3002\uff0e\uff61](?=[\p{L}\p{N}-]{2})/gu
/** What follows the domain in a URL, in the characters that readers take for it. */
const afterDomain = /(?<=\.\p{L}{2,24})[?#:&=/\\\u2044\u2215\uff0f]+/gu
/** Endings of files that are top-level domains, too. */
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
 * The name of a user or a workspace as a line of at most 64 characters that no mail program turns
 * into a link.
 */
export const plainName = (text: string): string => cut(withoutLinks(oneLine(text)), MAX_NAME)

/** A message from one person to another, in lines that no mail program turns into links. */
export function plainLines(text: string): string[] {
  const lines = text.split(/\r\n?|\n/).map(line => withoutLinks(oneLine(line)))
  const kept = cut(lines.join('\n').trim(), MAX_MESSAGE)
  return kept === '' ? [] : kept.replace(/\n{3,}/g, '\n\n').split('\n')
}

/** The name of a file, with its endings where they are known. */
export const plainFileName = (text: string): string =>
  withEnding(oneLine(text), MAX_NAME) || 'a file'

function withEnding(line: string, max: number): string {
  const [, stem = '', ending = ''] = /^(.*)(\.[a-z\d]{1,8})$/isu.exec(line) ?? []
  const isKnown = !domainEndings.has(ending.toLowerCase()) && mime.getType(`./x${ending}`) !== null
  return isKnown ? withEnding(stem, max - ending.length) + ending : cut(withoutLinks(line), max)
}
