/**
 * Makes another person's text safe to display: on one line, and without control of the text
 * direction.
 */
export const oneLine = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, ' ').trim()
