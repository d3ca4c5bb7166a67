import { catalogue } from '../../language/catalogue.ts'
import de from './messages/de.json' with { type: 'json' }
import en from './messages/en.json' with { type: 'json' }

/** The texts of the account pages, by language. */
export const texts = catalogue({ en, de })

export type Say = (typeof texts)['en']
