import { useQuery } from 'urql'
import { hasPreview, Preview } from '../../../viewer/preview.tsx'
import type { Entry } from '../documents.ts'
import { DOWNLOAD } from './documents.ts'

/** One object: with another one, what is asked would be asked again. */
const ONCE = { once: true }

/** What is in a file of a drive. */
export function FilePreview(props: { file: Extract<Entry, { __typename: 'File' }>; isLarge?: boolean }) {
  const { id } = props.file
  const [{ data }] = useQuery({
    query: DOWNLOAD,
    variables: { id, disposition: 'INLINE' },
    pause: !hasPreview(props.file),
    // An address lives for minutes.
    requestPolicy: 'network-only',
    context: ONCE,
  })
  const url = data?.node?.__typename === 'File' && data.node.id === id ? data.node.download.url : undefined
  return <Preview {...props} url={url} />
}
