import type { BucketLimits, Tree } from '../values/tree.ts'

/** Where a request comes from. */
export interface Origin {
  /** As LOG_ADDRESSES shows it; null where it shows none. */
  address: string | null
  /** What the client calls itself: a claim. */
  agent: string | null
}

/** A person with the link of a file request, who writes with the right of its maker. */
export interface Sender {
  userId: null
  via: 'file_request'
  /** Id of the file request. */
  credentialId: string
  /** The name that they have given, if they were asked; a claim. */
  name: string
  from?: Origin
}

/** Who writes into a drive, and by what right. */
export type Writer = Caller | Sender

/** Who calls, and by what right. */
export interface Caller {
  userId: string
  email: string
  /** Lower-case, null when no provider vouches for it. */
  verifiedEmail: string | null
  name: string
  picture: string
  via: 'session' | 'api_key'
  /** The interface of a key that is used as a password, where events name it. */
  face?: 'webdav'
  /** Names the session or the key; no secret, and shown in lists and in the log. */
  credentialId: string
  /** Unknown for work that outlives its request. */
  from?: Origin
  /** When the credential ends, in milliseconds; null when it does not. */
  expiresAt: number | null
  /** Scopes of an API key; null for a session, which has all. */
  scopes: ReadonlySet<string> | null
  /** The workspace of a workspace key. */
  workspaceId: string | null
  bucket: Tree
  limits: BucketLimits
  /** What the plan allows besides; null means unlimited. */
  bounds: { maxPublicLinks: number | null; maxNotes: number | null }
}
