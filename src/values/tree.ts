/** A tree: one storage area and its root folder. */
export interface Tree {
  bucketId: string
  rootId: string
  /** The limit of folders; unlimited without it. */
  maxFolders?: number | null
  /** The prefix of its paths in responses: empty in personal trees, a slash in those of workspaces. */
  front?: '/'
}

/** The limits of a bucket, from the plan of its user or of its workspace's owner. Null means unlimited. */
export interface BucketLimits {
  maxFileSizeBytes: number
  maxTotalStorageBytes: number
  maxFiles: number | null
}
