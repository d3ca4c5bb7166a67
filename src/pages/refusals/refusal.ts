import { catalogue } from '../../language/catalogue.ts'
import type { Language } from '../../language/languages.ts'
import de from './messages/de.json' with { type: 'json' }
import en from './messages/en.json' with { type: 'json' }

const texts = catalogue({ en, de })
type Key = keyof typeof en
const keyOf = new Map(Object.entries(en).map(([key, sentence]) => [sentence, key as Key]))

/**
 * Translates a message of the service for people, which is always English. The catalogue contains
 * the messages that visitors meet, word for word.
 *
 * @returns undefined for a message without a translation
 */
export function refusalIn(language: Language, message: string): string | undefined {
  if (language === 'en') return message
  const key = keyOf.get(message)
  return key && texts[language](key)
}
