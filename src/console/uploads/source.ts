import { sourcesOf } from '../../upload-engine/browser/source.ts'
import { text } from './text.ts'

export const { sourceOf, refuseUnreadable } = sourcesOf({
  fileChanged: () => text('fileChanged'),
  noWorker: () => text('noWorker'),
})
