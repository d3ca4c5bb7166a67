import type { IncomingMessage } from 'node:http'
import { parseCookie } from 'cookie'
import { acceptedLanguage } from '../language/accept-language.ts'
import { LANGUAGE_COOKIE, type Language, languageOfTag } from '../language/languages.ts'

/** The headers that decide the language of a page, for Vary. */
export const languageVary = 'Accept-Language, Cookie'

/** The language of a page: the one that the person has chosen, else that of the browser. */
export function languageOf({ headers }: Pick<IncomingMessage, 'headers'>): Language {
  const chosen = parseCookie(headers.cookie ?? '')[LANGUAGE_COOKIE]
  return languageOfTag(chosen ?? '') ?? acceptedLanguage(headers['accept-language'])
}
