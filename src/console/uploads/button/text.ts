import { messages } from '../../i18n/messages.ts'
import de from './messages/de.json'
import en from './messages/en.json'

/** Texts of the button, apart from those of the dock: the first view has the button alone. */
export const text = messages({ en, de })
