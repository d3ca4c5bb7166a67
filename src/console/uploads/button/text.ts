import { messages } from '../../i18n/messages.ts'
import de from './messages/de.json'
import en from './messages/en.json'

/**
 * Messages of the button. They are separate from the dock, because the first view has only the
 * button.
 */
export const text = messages({ en, de })
