/**
 * Text that another person has chosen, made safe to show: it cannot begin a new line or change the
 * direction of text.
 */
export const oneLine = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, ' ').trim()
