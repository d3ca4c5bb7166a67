import { type Messages, setupI18n } from '@lingui/core'
import { language } from './language.ts'

type Values = Record<string, string | number>

/**
 * Values that are names of files and folders, which may have 255 characters: what else a message
 * says is to be seen as well.
 */
const names = ['name', 'folder', 'before']
const LONGEST = 64

/** A name without its middle, if it is long. Its end often tells what it is. */
function brief([key, value]: [string, string | number]): [string, string | number] {
  if (!names.includes(key) || typeof value === 'number' || value.length <= LONGEST)
    return [key, value]
  const letters = [...value]
  return [key, [...letters.slice(0, 40), '…', ...letters.slice(-20)].join('')]
}

/**
 * A reader of one catalogue: `const text = messages({ en, de })`, then `text('key', { count })`.
 * The catalogues are ICU MessageFormat in `messages/en.json` and `messages/de.json`, which have the
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
