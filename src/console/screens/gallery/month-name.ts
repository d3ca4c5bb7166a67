import { locale } from '../../i18n/language.ts'

const months = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' })

/**
 * The name of a month.
 *
 * @param month in the form 2024-05
 */
export const monthName = (month: string): string =>
  months.format(Date.parse(`${month}-01T00:00:00Z`))
