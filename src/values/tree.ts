/** A tree: one storage area and its root folder. */
export interface Tree {
  bucketId: string
  rootId: string
  /** The maximum number of folders; unlimited if missing. */
  maxFolders?: number | null
  /** The prefix of paths in responses: empty in personal trees, a slash in workspace trees. */
  front?: '/'
  /** The share that gives access, if the root is a shared folder or file. */
  share?: SharedRoot
}

/** The share whose entry is the root of a tree. */
export interface SharedRoot {
  id: string
  sharerId: string
  /** Whether the entry is a file, which is then the whole tree. */
  isFile: boolean
  /** The drive that contains the entry. */
  drive: Pick<Tree, 'rootId' | 'front'>
}

/**
 * The limits of a bucket, from the plan of its user or its workspace's owner. Null means unlimited.
 */
export interface BucketLimits {
  maxFileSizeBytes: number
  maxTotalStorageBytes: number
  maxFiles: number | null
}
