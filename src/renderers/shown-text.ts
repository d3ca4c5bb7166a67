/**
 * FSI and PDI are left: the messages of the console isolate names with them, and they cannot
 * reverse letters.
 */
const directions = /(?![\u2068\u2069])\p{Bidi_Control}/gu

/**
 * Text that other people chose, safe to show: characters that change its direction become visible.
 * Without this, a name that ends in `exe` can look like one that ends in `jpg`.
 */
export const shownText = (text: string, instead = '\uFFFD'): string =>
  text.replace(directions, instead)
