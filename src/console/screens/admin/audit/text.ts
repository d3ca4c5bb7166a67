import { messages } from '../../../i18n/messages.ts'
import de from './messages/de.json'
import en from './messages/en.json'

/** Texts of the audit trail. */
export const text = messages({ en, de })
