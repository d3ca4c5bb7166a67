import { useQuery } from 'urql'
import { Frame } from '../viewer/frame.tsx'
import { Preview } from '../viewer/preview.tsx'
import { download } from './actions.ts'
import { DOWNLOAD_VERSION, type Version } from './documents.ts'

/** A constant, because a new object would repeat the query. */
const ONCE = { once: true }

/** Shows an old version in the whole window. */
export function Look({
  version,
  name,
  onClose,
}: {
  version: Version
  name: string
  onClose: () => void
}) {
  const [{ data }] = useQuery({
    query: DOWNLOAD_VERSION,
    variables: { id: version.id, disposition: 'INLINE' },
    // Signed URLs expire after minutes.
    requestPolicy: 'network-only',
    context: ONCE,
  })
  const file = { name, contentType: version.contentType, size: version.size }
  const url = data?.node?.__typename === 'Version' ? data.node.download.url : undefined
  return (
    <Frame file={file} onDownload={() => void download(version)} onClose={onClose}>
      <Preview file={file} url={url} isLarge />
    </Frame>
  )
}
