/** A limit as texts write it: "10,000". */
export const figure = (limit: number): string => limit.toLocaleString('en')

/**
 * How many files a caller may name in one request; what checks, describes or tests these bounds
 * reads them here.
 */
export const MAX_DELETED_FILES = 1000
export const MAX_SHARED_FILES = 100

/** How many entries a page of a list has at most, and without a limit. */
export const MAX_PAGE = 10_000
/** Entries that one call of the graph moves or deletes. */
export const MAX_CHANGED = 1000
/**
 * Entries that a caller may name for one archive, which its URL holds, and files and folders in it.
 */
export const MAX_ZIPPED = 200
export const MAX_ARCHIVED = 100_000
/** Archives that are being downloaded at once, by one client and from one drive. */
export const MAX_ZIPS_OF_ADDRESS = 4
export const MAX_ZIPS_OF_DRIVE = 16
/**
 * Files and folders that one call copies, with all that is in them: its drives are locked
 * meanwhile.
 */
export const MAX_COPIED = 2000
/** Tags of a drive and of one of its entries, and characters of their names. */
export const MAX_TAGS = 200
export const MAX_TAGS_OF_ENTRY = 20
export const MAX_TAG_NAME = 50
/** Favourites of a person. */
export const MAX_FAVOURITES = 200
/**
 * Locks that a person may have by WebDAV, and those of a drive: each request reads the locks of its
 * drive.
 */
export const MAX_DAV_LOCKS = 200
export const MAX_DAV_LOCKS_OF_DRIVE = 2000
/** Shared locks that hold for one entry: a listing names all of them with each entry. */
export const MAX_DAV_LOCKS_OF_ENTRY = 10
/** Bytes of what a client says of the owner of a lock. */
export const MAX_DAV_OWNER_BYTES = 1024
/**
 * Properties of a file or folder, and bytes of all of them: a listing reads those of many at once.
 */
export const MAX_DAV_PROPERTIES = 100
export const MAX_DAV_PROPERTY_BYTES = 32 * 1024
/**
 * Properties that a client may ask for, and bytes of their names: these are repeated for each entry
 * of a listing.
 */
export const MAX_DAV_ASKED = 200
export const MAX_DAV_ASKED_BYTES = 16 * 1024
/** Characters of a note. */
export const MAX_NOTE = 10_000

/** Webhooks that a person or a workspace may have, and attempts of each that are shown. */
export const MAX_WEBHOOKS = 10
export const MAX_DELIVERIES = 100
/** Characters of the URL of a webhook. */
export const MAX_WEBHOOK_URL = 2000

/** Characters of an e-mail address: 64 + 1 + 255 (RFC 5321, section 4.5.3.1). */
export const MAX_EMAIL = 320
/**
 * Characters of the name and the slug of a workspace, of the name and the description of an API
 * key, and of a password.
 */
export const MAX_WORKSPACE_NAME = 64
export const MAX_SLUG = 48
export const MAX_KEY_NAME = 100
export const MAX_KEY_DESCRIPTION = 1000
/** Of a program that signs in through a browser. */
export const MAX_CLIENT_ID = 64
export const MAX_REDIRECT_URI = 200
export const MAX_PASSWORD = 128
/** Characters of a part of a name to search for. */
export const MAX_NAME_PART = 255
/**
 * Characters of the label and the message of a file request, and of the name of a sender; kinds of
 * files that it may be bounded to.
 */
export const MAX_LABEL = 100
export const MAX_MESSAGE = 1000
/** Of what operators say about a maintenance. */
export const MAX_MAINTENANCE_MESSAGE = 500
export const MAX_SENDER_NAME = 100
export const MAX_KINDS = 20
/** Files and bytes that a file request may be bounded to. */
export const MAX_REQUESTED_FILES = 1_000_000
export const MAX_REQUESTED_BYTES = 2 ** 50
/** Downloads that a public share may be bounded to. */
export const MAX_DOWNLOADS = 1_000_000_000
/** Characters of the id and the name of a plan. */
export const MAX_PLAN_ID = 32
export const MAX_PLAN_NAME = 64
/** Characters of a search, the drives that one goes through, and the results of a page. */
export const MAX_SEARCH = 500
export const MAX_SEARCHED_DRIVES = 100
export const MAX_SEARCH_RESULTS = 1000
export const SEARCH_RESULTS = 50
