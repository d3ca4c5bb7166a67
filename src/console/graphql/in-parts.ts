/** The most items that one request may contain. */
const AT_ONCE = 1000

/** Splits items into chunks that fit into one request each. */
export const inParts = <T>(all: readonly T[], most = AT_ONCE): T[][] =>
  Array.from({ length: Math.ceil(all.length / most) }, (_, part) =>
    all.slice(part * most, (part + 1) * most),
  )
