import type { BucketLimits, Tree } from '../values/tree.ts'

/** The origin of a request. */
export interface Origin {
  /** The address in the form of LOG_ADDRESSES; null if hidden. */
  address: string | null
  /** The client's user agent, which is unverified. */
  agent: string | null
}

/** A person with the link of a file request, who writes with its creator's rights. */
export interface Sender {
  userId: null
  via: 'file_request'
  /** The id of the file request. */
  credentialId: string
  /** The name that the person gave, if asked. It is unverified. */
  name: string
  from?: Origin
}

/** The author of a write, and the right used. */
export type Writer = Caller | Sender

/** The caller of an operation, and the right used. */
export interface Caller {
  userId: string
  email: string
  /** In lower case; null if no provider has verified an address. */
  verifiedEmail: string | null
  name: string
  picture: string
  via: 'session' | 'api_key'
  /** Set when a key is used as a WebDAV password, for events. */
  face?: 'webdav'
  /** The id of the session or key. It is no secret, and appears in lists and in the log. */
  credentialId: string
  /** Undefined for work that outlives its request. */
  from?: Origin
  /** The expiry of the credential in milliseconds; null if it never expires. */
  expiresAt: number | null
  /** The scopes of an API key; null for a session, which has all scopes. */
  scopes: ReadonlySet<string> | null
  /** The workspace of a workspace key. */
  workspaceId: string | null
  bucket: Tree
  limits: BucketLimits
  /** Further limits of the plan; null means unlimited. */
  bounds: { maxPublicLinks: number | null; maxNotes: number | null }
}
