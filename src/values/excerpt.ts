/** Characters of a client's text that an error repeats. */
const MAX_EXCERPT = 100

/** The beginning of a text that a client has sent, for an error about it. */
export const excerpt = (text: string): string => text.slice(0, MAX_EXCERPT)
