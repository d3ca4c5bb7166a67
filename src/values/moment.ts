const moments = new Map<string, Intl.DateTimeFormat>()

/**
 * Formats a time for people, in UTC, because neither pages nor mails know the reader's time zone.
 */
export function momentText(ms: number, locale = 'en-GB'): string {
  let moment = moments.get(locale)
  if (!moment) {
    moment = new Intl.DateTimeFormat(locale, {
      dateStyle: 'long',
      timeStyle: 'short',
      timeZone: 'UTC',
    })
    moments.set(locale, moment)
  }
  return `${moment.format(ms)} UTC`
}
