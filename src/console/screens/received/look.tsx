import { Frame } from '../../viewer/frame.tsx'
import { Preview } from '../../viewer/preview.tsx'
import type { ReceivedShare } from './documents.ts'

/**
 * Shows a received file in the whole window.
 *
 * @param url of its content
 */
export function Look(props: {
  share: ReceivedShare
  url: string
  onDownload: () => void
  onClose: () => void
}) {
  const { fileName: name, contentType, size } = props.share
  const file = { name, contentType, size }
  return (
    <Frame file={file} onDownload={props.onDownload} onClose={props.onClose}>
      <Preview file={file} url={props.url} isLarge />
    </Frame>
  )
}
