import { messages } from '../../i18n/messages.ts'
import de from './messages/de.json'
import en from './messages/en.json'

/** Texts of the list of one's own file requests. */
export const text = messages({ en, de })
