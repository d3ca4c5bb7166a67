/** Times as people read them, in UTC: neither a page nor a mail knows where its reader is. */
const moment = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'long',
  timeStyle: 'short',
  timeZone: 'UTC',
})

export const momentText = (ms: number): string => `${moment.format(ms)} UTC`
