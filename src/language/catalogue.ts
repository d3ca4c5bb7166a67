import { IntlMessageFormat } from 'intl-messageformat'
import { type Language, languages, locales } from './languages.ts'

export type Values = Record<string, string | number>

/** Returns a message in one language: `say('files', { count })`. */
export type Say<Key extends string> = (key: Key, values?: Values) => string

/**
 * Returns the readers of a catalogue, by language: `const say = catalogue({ en, de })[language]`.
 * Catalogues are ICU MessageFormat in `messages/en.json` and `messages/de.json`, with the same
 * keys. Messages are parsed when they are first used. The console has its own reader, whose
 * messages are parsed at build time.
 */
export function catalogue<Key extends string>(
  texts: Record<Language, Record<Key, string>>,
): Record<Language, Say<Key>> {
  const readers = languages.map(language => [language, readerOf(texts[language], language)])
  return Object.fromEntries(readers)
}

/** A reader that fills in `{service}`, the name of this installation. */
export const branded =
  <Key extends string>(say: Say<Key>, service: string): Say<Key> =>
  (key, values) =>
    say(key, { service, ...values })

function readerOf<Key extends string>(texts: Record<Key, string>, language: Language): Say<Key> {
  const parsed = new Map<Key, IntlMessageFormat>()
  return (key, values) => {
    let message = parsed.get(key)
    if (!message) {
      message = new IntlMessageFormat(texts[key], locales[language], undefined, { ignoreTag: true })
      parsed.set(key, message)
    }
    return String(message.format(values))
  }
}
