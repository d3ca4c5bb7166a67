import { messages } from '../../../i18n/messages.ts'
import shownDe from '../messages/de.json'
import shownEn from '../messages/en.json'
import de from './messages/de.json'
import en from './messages/en.json'

/** Texts of what the files screen loads on demand, and of the list below it. */
export const text = messages({ en: { ...shownEn, ...en }, de: { ...shownDe, ...de } })
