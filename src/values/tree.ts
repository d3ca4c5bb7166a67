/** A tree: one storage area and its root folder. */
export interface Tree {
  bucketId: string
  rootId: string
  /** The limit of folders; unlimited without it. */
  maxFolders?: number | null
  /**
   * The prefix of its paths in responses: empty in personal trees, a slash in those of workspaces.
   */
  front?: '/'
  /** The share by which it is reached, where its root is what is shared. */
  share?: SharedRoot
}

/** The share whose entry is the root of a tree. */
export interface SharedRoot {
  id: string
  sharerId: string
  /** Whether the entry is a file, which is all of the tree then. */
  isFile: boolean
  /** The whole drive that it is in. */
  drive: Pick<Tree, 'rootId' | 'front'>
}

/**
 * The limits of a bucket, from the plan of its user or of its workspace's owner. Null means
 * unlimited.
 */
export interface BucketLimits {
  maxFileSizeBytes: number
  maxTotalStorageBytes: number
  maxFiles: number | null
}
