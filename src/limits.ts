/** A limit as texts write it: "10,000". */
export const figure = (limit: number): string => limit.toLocaleString('en')

/** How many files a caller may name in one request; what checks, describes or tests these bounds reads them here. */
export const MAX_DELETED_FILES = 1000
export const MAX_SHARED_FILES = 100

/** How many entries a page of a list has at most, and without a limit. */
export const MAX_PAGE = 10_000
/** Entries that one call of the graph moves or deletes. */
export const MAX_CHANGED = 1000
/** Characters of a note. */
export const MAX_NOTE = 10_000

/** Webhooks that a person or a workspace may have, and attempts of each that are shown. */
export const MAX_WEBHOOKS = 10
export const MAX_DELIVERIES = 100
