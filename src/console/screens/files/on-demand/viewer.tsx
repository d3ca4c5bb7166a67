import { useEffect, useRef } from 'react'
import { useQuery } from 'urql'
import { Button } from '../../../parts/button.tsx'
import { ChevronLeft, ChevronRight } from '../../../parts/icons.ts'
import { Frame } from '../../../viewer/frame.tsx'
import type { Entry } from '../documents.ts'
import { DETAILS } from './details-documents.ts'
import { FilePreview } from './preview.tsx'
import { text } from './text.ts'

interface ViewerProps {
  id: string
  /** The list that it is in, for the ones before and after. */
  entries: readonly Entry[]
  /** The token of the share by which they are seen. */
  share: string | undefined
  onShow: (id: string) => void
  onDownload: (entry: Entry) => void
  onClose: () => void
}

/** A file over the whole window. The arrow keys go to the files before and after it. */
export function Viewer({ id, entries, share, onShow, onDownload, onClose }: ViewerProps) {
  const files = entries.filter(({ __typename }) => __typename === 'File')
  const at = files.findIndex(entry => entry.id === id)
  const listed = files[at]
  const [{ data }] = useQuery({ query: DETAILS, variables: { id }, pause: listed !== undefined || share !== undefined })
  const file = listed ?? (data?.node?.__typename === 'File' ? data.node : undefined)
  const go = (step: number) => {
    const next = at < 0 ? undefined : files[at + step]
    if (next) onShow(next.id)
  }
  const step = useRef(go)
  step.current = go
  useEffect(() => {
    const onKey = ({ key, target }: KeyboardEvent) => {
      if (target instanceof HTMLMediaElement) return
      const forward = document.dir === 'rtl' ? 'ArrowLeft' : 'ArrowRight'
      if (key === 'ArrowLeft' || key === 'ArrowRight') step.current(key === forward ? 1 : -1)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  return (
    <Frame
      file={file?.__typename === 'File' ? file : undefined}
      onDownload={() => file && onDownload(file)}
      onClose={onClose}
    >
      <Button
        look="icon"
        className="viewer-step"
        aria-label={text('previous')}
        isDisabled={at <= 0}
        onPress={() => go(-1)}
      >
        <ChevronLeft />
      </Button>
      {file?.__typename === 'File' ? (
        <FilePreview key={file.id} file={file} share={share} isLarge />
      ) : (
        <div className="preview none" />
      )}
      <Button
        look="icon"
        className="viewer-step"
        aria-label={text('next')}
        isDisabled={at < 0 || at >= files.length - 1}
        onPress={() => go(1)}
      >
        <ChevronRight />
      </Button>
    </Frame>
  )
}
