/** How many files a caller may name in one request; what checks, describes or tests these bounds reads them here. */
export const MAX_DELETED_FILES = 1000
export const MAX_SHARED_FILES = 100
