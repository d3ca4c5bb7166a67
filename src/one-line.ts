/** A text that somebody else has chosen, for being shown: it begins no line of its own, and turns the direction of nothing. */
export const oneLine = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, ' ').trim()
