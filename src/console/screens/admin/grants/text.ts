import { messages } from '../../../i18n/messages.ts'
import de from './messages/de.json'
import en from './messages/en.json'

export const text = messages({ en, de })
