import { useQuery } from 'urql'
import { Frame } from '../viewer/frame.tsx'
import { Preview } from '../viewer/preview.tsx'
import { download } from './actions.ts'
import { DOWNLOAD_VERSION, type Version } from './documents.ts'

/** One object: with another one, what is asked would be asked again. */
const ONCE = { once: true }

/** What a file was, over the whole window. */
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
    // An address lives for minutes.
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
