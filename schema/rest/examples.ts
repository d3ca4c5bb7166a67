/**
 * Values that several examples of the API document share, so that their requests and responses
 * match.
 */
export const ID = '6f1c2b52-7d0e-4a58-9d3b-0c9f5e1a7b44'
export const BYTES = 1_048_576
export const CRC32 = 'cbf43926'
/** The description of a file's time. */
export const MODIFIED =
  'When its content was last modified, as reported by the client; otherwise, when it was uploaded.'
export const MD5 = '9e107d9d372bb6826bd81d3542a419d6'
export const MEDIA_TYPE = 'application/pdf'
export const FILE_PATH = 'docs/report.pdf'
export const FOLDER_PATH = 'docs/2026'
export const WORKSPACE_FILE_PATH = '/docs/report.pdf'
export const WORKSPACE_FOLDER_PATH = '/docs/2026'
export const CURSOR = 'WyJyZXBvcnQucGRmIl0'
export const ALICE = 'alice@example.org'
export const BOB = 'bob@example.org'
export const PICTURE = 'https://example.org/alice.png'
export const ROLE = 'editor'
export const PASSWORD = 'correct horse battery staple'
export const INVITE_TOKEN = 'T0kEnOfTheInvite'
export const SHARE_TOKEN = 'T0kEnOfTheShare'
export const SHARE_LINK = `https://files.example.org/share/${SHARE_TOKEN}`
export const FILE_REQUEST_TOKEN = 'T0kEnOfTheFileRequest'
export const FILE_REQUEST_LINK = `https://files.example.org/request/${FILE_REQUEST_TOKEN}`
export const SENDER_TOKEN = 'T0kEnOfOneSender'
export const DOWNLOAD_TOKEN = 'T0kEnOfOneOfTheOwnFiles'
export const SIGNED_URL = 'https://store.example.org/satchel/6f1c2b52?sig=...'
export const NOTE = 'Agreed with Bob on Monday.'
