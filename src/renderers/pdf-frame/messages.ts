/** What the frame's controls are called. */
export interface FrameLabels {
  zoomIn: string
  zoomOut: string
  find: string
  page: string
  /** With `{count}` in the place of a number. */
  pages: string
  notFound: string
}

/** What the frame is sent. */
export interface ToFrame {
  type: 'open'
  bytes: ArrayBuffer
  labels: FrameLabels
  /** Of the labels, as a BCP 47 tag. */
  lang: string
}

/**
 * What the frame says: that it can be sent a document, that it cannot show it, or a key that was
 * pressed in it.
 */
export type FromFrame =
  | { type: 'ready' }
  | { type: 'failed' }
  | { type: 'shown' }
  | { type: 'key'; key: string }
