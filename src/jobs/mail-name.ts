import mime from 'mime'
import { oneLine } from '../one-line.ts'

const MAX_NAME = 64
const scheme = /\b[a-z][a-z\d+.-]*:\/+|\bwww\./giu
/** What mail programs make a link of: a dot between labels, the last of which has two letters or more; and an IPv4 address. */
const domainDot = /(?<=[\p{L}\p{N}-])[.\u3002\uff0e\uff61](?=[\p{L}\p{N}-]{2})/gu
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
    .replace(scheme, '')
    .replace(ipv4, address => address.replaceAll('.', ' '))
    .replace(domainDot, ' ')
    .replaceAll('@', ' at ')
    .replace(/\s+/gu, ' ')
    .trim()

/** The name of a person or of a workspace, as far as it is one: a line of at most 64 characters that no mail program makes a link of. */
export const plainName = (text: string): string => cut(withoutLinks(oneLine(text)), MAX_NAME)

/** The name of a file, with its ending where it has a known one. */
export function plainFileName(text: string): string {
  const line = oneLine(text).replace(scheme, '')
  const [, words = '', last = '', ending = ''] = /^(.*\s)?(\S*)(\.[a-z\d]{1,8})$/isu.exec(line) ?? []
  const isKnown = ending.toLowerCase() !== '.com' && mime.getType(`./x${ending}`) !== null
  if (!isKnown) return plainName(line) || 'a file'
  const stem = words ? `${withoutLinks(words)} ${last}` : last
  return `${cut(stem.trimStart(), MAX_NAME - ending.length)}${ending}`
}
