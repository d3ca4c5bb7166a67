import { useEffect, useState } from 'react'
import { useQuery } from 'urql'
import { isDrawn } from '../../../../formats/picture.ts'
import { OPEN_SHARE } from '../../../drive/shared.ts'
import { graphql } from '../../../graphql/graphql.ts'
import { mutate } from '../../../graphql/run.ts'
import { toastError } from '../../../parts/toasts.tsx'
import { hasPreview, Preview } from '../../../viewer/preview.tsx'
import type { FileEntry } from '../documents.ts'
import { DOWNLOAD } from './documents.ts'

interface FilePreviewProps {
  file: FileEntry
  isLarge?: boolean
  /** Called when the picture has loaded, or when it cannot be shown. */
  onReady?: () => void
  /** Token of the share that gives access. */
  share?: string | undefined
}

/** The preview of a file in a drive or share. */
export function FilePreview({ share, ...props }: FilePreviewProps) {
  return share === undefined ? <OfDrive {...props} /> : <OfShare {...props} token={share} />
}

/** A constant, because a new object would repeat the query. */
const ONCE = { once: true }

/**
 * Whether the file is a picture. The service makes previews even of some formats that browsers
 * cannot show.
 */
export const isPictureEntry = ({ contentType }: Pick<FileEntry, 'contentType'>): boolean =>
  contentType.startsWith('image/')

const PICTURE = graphql(`
  query Picture($id: ID!) {
    node(id: $id) {
      __typename
      id
      ... on File {
        preview {
          state
          url(size: LARGE)
        }
      }
    }
  }
`)

/**
 * The details panel shows the preview of a picture if there is one. The viewer shows the original,
 * and the preview of what a browser cannot show.
 */
function OfDrive(props: Omit<FilePreviewProps, 'share'>) {
  const { file, isLarge = false } = props
  const [hasFailed, setFailed] = useState(false)
  const isShown = hasPreview(file) && !hasFailed
  const wantsPreview = isLarge ? !isShown && isDrawn(file.contentType) : isPictureEntry(file)
  const [{ data }] = useQuery({
    query: PICTURE,
    variables: { id: file.id },
    pause: !wantsPreview,
    requestPolicy: 'network-only',
    context: ONCE,
  })
  const failed = isDrawn(file.contentType) ? () => setFailed(true) : undefined
  if (!wantsPreview) return <Whole {...props} onFailed={isLarge ? failed : undefined} />
  if (data?.node?.__typename !== 'File' || data.node.id !== file.id)
    return <div className="preview none" />
  const { preview } = data.node
  if (preview?.state === 'MADE' && preview.url)
    return (
      <Preview
        {...props}
        file={{ ...file, contentType: 'image/webp', size: 1 }}
        url={preview.url}
      />
    )
  return hasFailed ? (
    <Preview {...props} file={{ ...file, size: 0 }} url={undefined} />
  ) : (
    <Whole {...props} />
  )
}

interface WholeProps extends Omit<FilePreviewProps, 'share'> {
  onFailed?: (() => void) | undefined
}

/** The original file. */
function Whole(props: WholeProps) {
  const { id } = props.file
  const [{ data }] = useQuery({
    query: DOWNLOAD,
    variables: { id, disposition: 'INLINE' },
    pause: !hasPreview(props.file),
    // Signed URLs expire after minutes.
    requestPolicy: 'network-only',
    context: ONCE,
  })
  const url =
    data?.node?.__typename === 'File' && data.node.id === id ? data.node.download.url : undefined
  return <Preview {...props} url={url} />
}

function OfShare({ token, ...props }: Omit<FilePreviewProps, 'share'> & { token: string }) {
  const { path } = props.file
  const [url, setUrl] = useState<string>()
  const isShown = hasPreview(props.file)
  useEffect(() => {
    if (!isShown) return
    let isGone = false
    mutate(OPEN_SHARE, { input: { token, path, disposition: 'INLINE' } })
      .then(({ openShare }) => isGone || setUrl(openShare?.download.url))
      .catch(toastError)
    return () => {
      isGone = true
    }
  }, [token, path, isShown])
  return <Preview {...props} url={url} />
}
