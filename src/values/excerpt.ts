/** The maximum length of client text in an error. */
const MAX_EXCERPT = 100

/** The beginning of a client's text, for an error message. */
export const excerpt = (text: string): string => text.slice(0, MAX_EXCERPT)
