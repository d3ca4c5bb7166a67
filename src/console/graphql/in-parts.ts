/** So many things the service takes at once. */
const AT_ONCE = 1000

/** Things in parts, each of as many as one request may name. */
export const inParts = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / AT_ONCE) }, (_, part) => all.slice(part * AT_ONCE, (part + 1) * AT_ONCE))
