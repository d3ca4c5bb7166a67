import { messages } from '../../../i18n/messages.ts'
import shownDe from '../messages/de.json'
import shownEn from '../messages/en.json'
import de from './messages/de.json'
import en from './messages/en.json'

/** Messages of the files screen that load on demand, including those for the list below. */
export const text = messages({ en: { ...shownEn, ...en }, de: { ...shownDe, ...de } })
