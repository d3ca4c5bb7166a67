import { messages } from '../../i18n/messages.ts'
import de from './messages/de.json'
import en from './messages/en.json'

/** Texts of what others have shared with the person. */
export const text = messages({ en, de })
