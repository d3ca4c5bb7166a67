import { shownText } from '../renderers/shown-text.ts'

/**
 * Makes another person's text safe to display on one line of plain text: what `shownText` shows as
 * a mark becomes a space here. So do isolates, which would reach into the text around.
 */
export const oneLine = (text: string): string =>
  shownText(text, '\n')
    .replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u2068\u2069]+/gu, ' ')
    .trim()
