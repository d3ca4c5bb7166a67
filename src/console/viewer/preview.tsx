import './viewer.css'
import { useEffect, useState } from 'react'
import { EntryIcon } from '../parts/entry-icon.tsx'
import { mediaTypeOf } from '../parts/media-type.ts'
import { text } from './text.ts'

export interface Previewed {
  name: string
  contentType: string
  size: number
}

/** How much of a text is shown. */
const TEXT_BYTES = 256 * 1024
/** A browser takes a picture or a document as a whole. */
const WHOLE_BYTES = 50 * 1024 * 1024

const images = /^image\/(png|jpeg|gif|webp|avif|bmp|apng|x-icon|vnd\.microsoft\.icon)$/
const texts =
  /^text\/(plain|markdown|csv|tab-separated-values|css|xml|typescript)$|^application\/(json|xml|yaml|toml|javascript)$/

const kindOf = (file: Previewed) => {
  const { size } = file
  if (size === 0) return null
  const type = mediaTypeOf(file).replace(/;.*/, '')
  if (images.test(type)) return size <= WHOLE_BYTES ? 'image' : null
  if (type === 'application/pdf') return size <= WHOLE_BYTES ? 'pdf' : null
  if (/^audio\//.test(type)) return 'audio'
  if (/^video\/(mp4|webm|ogg)$/.test(type)) return 'video'
  return texts.test(type) ? 'text' : null
}

/** Whether a browser can show what is in a file. */
export const hasPreview = (file: Previewed): boolean => kindOf(file) !== null

/**
 * What is in a file, as far as a browser can show it without running anything of it.
 * @param url of its bytes; undefined while that is asked for
 */
export function Preview({
  file,
  url,
  isLarge = false,
}: {
  file: Previewed
  url: string | undefined
  isLarge?: boolean
}) {
  const kind = kindOf(file)
  const [hasFailed, setFailed] = useState(false)
  const none = (
    <div className="preview none">
      <EntryIcon contentType={mediaTypeOf(file)} size="tile" />
      {isLarge && <p>{text('noPreview')}</p>}
    </div>
  )
  if (kind === null || hasFailed) return none
  if (!url) return <div className="preview none" />
  const failed = () => setFailed(true)
  if (kind === 'image')
    return (
      <div className="preview image">
        <img src={url} alt={file.name} onError={failed} />
      </div>
    )
  if (kind === 'video')
    return (
      <div className="preview">
        {/* biome-ignore lint/a11y/useMediaCaption: people's own films have none */}
        <video src={url} controls onError={failed} />
      </div>
    )
  if (kind === 'audio')
    return (
      <div className="preview none">
        <EntryIcon contentType={mediaTypeOf(file)} size="tile" />
        {/* biome-ignore lint/a11y/useMediaCaption: people's own sounds have none */}
        <audio src={url} controls onError={failed} />
      </div>
    )
  return kind === 'pdf' ? (
    <Pdf key={url} url={url} name={file.name} onError={failed} />
  ) : (
    <Text key={url} url={url} size={file.size} onError={failed} />
  )
}

/** The first part of a text. */
function Text({ url, size, onError }: { url: string; size: number; onError: () => void }) {
  const [shown, setShown] = useState<string | null>(null)
  useEffect(() => {
    const gone = new AbortController()
    const headers = size > TEXT_BYTES ? { range: `bytes=0-${TEXT_BYTES - 1}` } : undefined
    fetch(url, { signal: gone.signal, headers })
      .then(async response => {
        if (!response.ok) throw new Error(response.statusText)
        setShown(new TextDecoder().decode(await response.arrayBuffer()))
      })
      .catch(() => gone.signal.aborted || onError())
    return () => gone.abort()
  }, [url, size, onError])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <pre className="preview text" dir="auto" tabIndex={0}>
      {shown}
    </pre>
  )
}

/** A document in the browser's own reader, from bytes that this page holds: they have no origin to act for. */
function Pdf({ url, name, onError }: { url: string; name: string; onError: () => void }) {
  const [source, setSource] = useState<string | null>(null)
  useEffect(() => {
    const gone = new AbortController()
    let made = ''
    fetch(url, { signal: gone.signal })
      .then(async response => {
        if (!response.ok) throw new Error(response.statusText)
        const bytes = await response.arrayBuffer()
        made = URL.createObjectURL(new Blob([bytes], { type: 'application/pdf' }))
        setSource(made)
      })
      .catch(() => gone.signal.aborted || onError())
    return () => {
      gone.abort()
      if (made) URL.revokeObjectURL(made)
    }
  }, [url, onError])
  return <div className="preview pdf">{source && <iframe src={source} title={name} />}</div>
}
