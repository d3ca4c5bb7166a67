import { type Messages, setupI18n } from '@lingui/core'
import { language } from './language.ts'

type Values = Record<string, string | number>

/**
 * Message values that are file or folder names. They can have 255 characters, and the rest of the
 * message must stay visible.
 */
const names = ['name', 'folder', 'before']
const LONGEST = 64

/** Shortens a long name in the middle, because the end often identifies the file. */
function brief([key, value]: [string, string | number]): [string, string | number] {
  if (!names.includes(key) || typeof value === 'number' || value.length <= LONGEST)
    return [key, value]
  const letters = [...value]
  return [key, [...letters.slice(0, 40), '…', ...letters.slice(-20)].join('')]
}

/**
 * Returns a reader of one catalogue: `const text = messages({ en, de })`, then `text('key', { count
 * })`. The catalogues are ICU MessageFormat in `messages/en.json` and `messages/de.json`, with the
 * same keys.
 */
export function messages<Key extends string>(catalogues: {
  en: Record<Key, string>
  de: Record<Key, string>
}) {
  const i18n = setupI18n({
    locale: language,
    messages: { [language]: catalogues[language] as Messages },
  })
  return (key: Key, values?: Values): string =>
    i18n._(key, values && Object.fromEntries(Object.entries(values).map(brief)))
}
