/** So many things the service takes at once. */
const AT_ONCE = 1000

/** Things in parts, each of as many as one request may name. */
export const inParts = <T>(all: readonly T[], most = AT_ONCE): T[][] =>
  Array.from({ length: Math.ceil(all.length / most) }, (_, part) =>
    all.slice(part * most, (part + 1) * most),
  )
