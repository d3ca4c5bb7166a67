import { de } from './messages/de.ts'
import { en, type MessageKey, type Messages } from './messages/en.ts'

export type Language = 'en' | 'de'
const catalogues: Record<Language, Messages> = { en, de }

/** A text in the language of the browser. */
export type Say = (key: MessageKey, values?: Record<string, string | number>) => string

/** The language that a browser prefers, by its Accept-Language; English for all that is unknown. */
export function languageOf(header = ''): Language {
  const wanted = header
    .slice(0, 200)
    .split(',')
    .map((part, i) => {
      const [tag = '', ...more] = part.trim().toLowerCase().split(';')
      const q = Number(/^\s*q=([\d.]+)/.exec(more.join(';'))?.[1] ?? 1)
      return { language: tag.split('-')[0], q, i }
    })
    .sort((a, b) => b.q - a.q || a.i - b.i)
  for (const { language, q } of wanted)
    if (q > 0 && (language === 'de' || language === 'en')) return language
  return 'en'
}

export function sayIn(language: Language): Say {
  const messages = catalogues[language]
  return (key, values = {}) =>
    messages[key].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
}
