/**
 * Formats times for people, in UTC, because neither pages nor mails know the reader's time zone.
 */
const moment = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'long',
  timeStyle: 'short',
  timeZone: 'UTC',
})

export const momentText = (ms: number): string => `${moment.format(ms)} UTC`
