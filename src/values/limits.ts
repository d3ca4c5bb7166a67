/** Formats a limit for texts: "10,000". */
export const figure = (limit: number): string => limit.toLocaleString('en')

/**
 * How many files a caller may name in one request. All code, documentation and tests read the
 * limits from this module.
 */
export const MAX_DELETED_FILES = 1000
export const MAX_SHARED_FILES = 100

/** The maximum page size of a list, which is also the default. */
export const MAX_PAGE = 10_000
/** Entries per GraphQL call that moves or deletes. */
export const MAX_CHANGED = 1000
/**
 * Entries that a caller may name for one archive, limited by the URL length, and files and folders
 * in the archive.
 */
export const MAX_ZIPPED = 200
export const MAX_ARCHIVED = 100_000
/** Concurrent archive downloads per client and per drive. */
export const MAX_ZIPS_OF_ADDRESS = 4
export const MAX_ZIPS_OF_DRIVE = 16
/**
 * Files and folders per copy, including their contents, because their drives are locked meanwhile.
 */
export const MAX_COPIED = 2000
/** Tags per drive and per entry, and characters of a tag name. */
export const MAX_TAGS = 200
export const MAX_TAGS_OF_ENTRY = 20
export const MAX_TAG_NAME = 50
/** Favourites per person. */
export const MAX_FAVOURITES = 200
/** WebDAV locks per person and per drive. Each request reads all locks of its drive. */
export const MAX_DAV_LOCKS = 200
export const MAX_DAV_LOCKS_OF_DRIVE = 2000
/** Shared locks per entry, because a listing repeats them for each entry. */
export const MAX_DAV_LOCKS_OF_ENTRY = 10
/** Bytes of the owner field of a lock. */
export const MAX_DAV_OWNER_BYTES = 1024
/**
 * Properties of a file or folder, and their bytes. A listing reads them for many entries at once.
 */
export const MAX_DAV_PROPERTIES = 100
export const MAX_DAV_PROPERTY_BYTES = 32 * 1024
/** Bytes of the properties in a drive. They are rows of the database, which no quota counts. */
export const MAX_DAV_PROPERTY_BYTES_OF_DRIVE = 32 * 1024 * 1024
/**
 * Properties that a client may request, and bytes of their names, which a listing repeats for each
 * entry.
 */
export const MAX_DAV_ASKED = 200
export const MAX_DAV_ASKED_BYTES = 16 * 1024
/** Characters of a note. */
export const MAX_NOTE = 10_000

/** Webhooks per person or workspace, and displayed attempts per webhook. */
export const MAX_WEBHOOKS = 10
export const MAX_DELIVERIES = 100
/** Characters of a webhook URL. */
export const MAX_WEBHOOK_URL = 2000

/** Characters of an e-mail address: 64 + 1 + 255 (RFC 5321, section 4.5.3.1). */
export const MAX_EMAIL = 320
/**
 * Characters of workspace names and slugs, of names and descriptions of API keys, and of passwords.
 */
export const MAX_WORKSPACE_NAME = 64
export const MAX_SLUG = 48
export const MAX_KEY_NAME = 100
export const MAX_KEY_DESCRIPTION = 1000
/** Characters of the id and name of a program that signs in through a browser. */
export const MAX_CLIENT_ID = 64
export const MAX_REDIRECT_URI = 200
export const MAX_PASSWORD = 128
/** Characters of a name fragment to search for. */
export const MAX_NAME_PART = 255
/**
 * Characters of a file request's label and message, and of a sender's name; and the number of
 * accepted file kinds.
 */
export const MAX_LABEL = 100
export const MAX_MESSAGE = 1000
/** Characters of a maintenance message. */
export const MAX_MAINTENANCE_MESSAGE = 500
export const MAX_SENDER_NAME = 100
export const MAX_KINDS = 20
/** Names that a file request expects. */
export const MAX_EXPECTED = 150
/** Senders that a list of them has, the expected ones included. */
export const MAX_SENDERS = 250
/** Upper bounds for the file and byte limits of a file request. */
export const MAX_REQUESTED_FILES = 1_000_000
export const MAX_REQUESTED_BYTES = 2 ** 50
/** Upper bound for the download limit of a public share. */
export const MAX_DOWNLOADS = 1_000_000_000
/** Characters of the id and name of a plan. */
export const MAX_PLAN_ID = 32
export const MAX_PLAN_NAME = 64
/** Characters of a search query, searched drives, and results per page. */
export const MAX_SEARCH = 500
export const MAX_SEARCHED_DRIVES = 100
export const MAX_SEARCH_RESULTS = 1000
export const SEARCH_RESULTS = 50
