/** Labels of the frame's controls. */
export interface FrameLabels {
  zoomIn: string
  zoomOut: string
  find: string
  page: string
  /** Contains `{count}` in place of the number. */
  pages: string
  notFound: string
}

/** The message to the frame. */
export interface ToFrame {
  type: 'open'
  bytes: ArrayBuffer
  labels: FrameLabels
  /** Language of the labels, as a BCP 47 tag. */
  lang: string
}

/** A message from the frame: ready for a document, unable to show it, or a pressed key. */
export type FromFrame =
  | { type: 'ready' }
  | { type: 'failed' }
  | { type: 'shown' }
  | { type: 'key'; key: string }
