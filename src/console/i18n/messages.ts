import { type Messages, setupI18n } from '@lingui/core'
import { language } from './language.ts'

type Values = Record<string, string | number>

/**
 * A reader of one catalogue: `const text = messages({ en, de })`, then `text('key', { count })`.
 * The catalogues are ICU MessageFormat in `messages/en.json` and `messages/de.json`, which have the same keys.
 */
export function messages<Key extends string>(catalogues: { en: Record<Key, string>; de: Record<Key, string> }) {
  const i18n = setupI18n({ locale: language, messages: { [language]: catalogues[language] as Messages } })
  return (key: Key, values?: Values): string => i18n._(key, values)
}
