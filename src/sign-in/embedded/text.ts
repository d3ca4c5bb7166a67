import type { ShownBrand } from '../../http/brand.ts'
import { branded, catalogue } from '../../language/catalogue.ts'
import type { Language } from '../../language/languages.ts'
import de from './messages/de.json' with { type: 'json' }
import en from './messages/en.json' with { type: 'json' }

const texts = catalogue({ en, de })

export type Say = (typeof texts)['en']

/** The texts of the account pages in a language. */
export const sayIn = (language: Language, { name }: ShownBrand): Say =>
  branded(texts[language], name)
