import './viewer.css'
import { lazy, Suspense, useState } from 'react'
import { isText, isTooLarge, kindOf as kindIn, type NamedFile } from '../../formats/viewer.ts'
import { EntryIcon } from '../parts/entry-icon.tsx'
import { text } from './text.ts'
import { TextPreview } from './text-preview.tsx'

export type Previewed = NamedFile

const Archive = lazy(() => import('./archive.tsx'))
const Document = lazy(() => import('./document.tsx'))
const Pdf = lazy(() => import('./pdf.tsx'))
const Song = lazy(() => import('./song.tsx'))
const Picture = lazy(() => import('./picture.tsx'))

/** In an image element, no script of a drawing runs, and it loads nothing. */
const isDrawing = ({ contentType }: Previewed): boolean => /^image\/svg\+xml\b/.test(contentType)

function kindOf(file: Previewed) {
  const kind = isDrawing(file) ? 'image' : kindIn(file)
  return kind && file.size > 0 && !isTooLarge(kind, file.size) ? kind : null
}

/** Whether browsers can show the file. */
export const hasPreview = (file: Previewed): boolean => kindOf(file) !== null

/** Whether the file is a picture that browsers can show. */
export const isPicture = (file: Previewed): boolean => kindOf(file) === 'image'

interface PreviewProps {
  file: Previewed
  /** URL of the content; undefined while loading. */
  url: string | undefined
  /** The content, if it is in memory already. */
  bytes?: Uint8Array<ArrayBuffer> | undefined
  isLarge?: boolean
  /** Called when the picture has loaded, or when it cannot be shown. */
  onReady?: () => void
  /** Called instead of showing an icon when the browser cannot show the file. */
  onFailed?: (() => void) | undefined
}

/** A preview that never executes anything in the file. */
export function Preview({ file, url, bytes, isLarge = false, onReady, onFailed }: PreviewProps) {
  const kind = kindOf(file)
  const [hasFailed, setFailed] = useState(false)
  const icon = <EntryIcon contentType={file.contentType} size="tile" />
  const song = (url: string) => (
    <Suspense>
      <Song key={url} url={url} />
    </Suspense>
  )
  const blank = <div className="preview none" />
  if (kind === null || hasFailed || ((kind === 'archive' || kind === 'document') && !isLarge))
    return (
      <div className="preview none">
        {icon}
        {kind === 'audio' && url && isLarge && song(url)}
        {isLarge && <p>{text('noPreview')}</p>}
      </div>
    )
  if (!url) return blank
  const failed = () => {
    if (onFailed) return onFailed()
    setFailed(true)
    onReady?.()
  }
  const media = { src: url, controls: true, preload: 'metadata', onError: failed }
  if (kind === 'video')
    return (
      <div className="preview">
        <video {...media} playsInline aria-label={file.name} />
      </div>
    )
  if (kind === 'audio')
    return (
      <div className="preview none">
        {icon}
        {isLarge && song(url)}
        <audio {...media} aria-label={file.name} />
      </div>
    )
  if (kind === 'image' && !isLarge)
    return (
      <div className="preview image">
        <img src={url} alt={file.name} onError={failed} />
      </div>
    )
  if (isText(kind))
    return (
      <TextPreview
        key={url}
        kind={kind}
        file={file}
        url={url}
        bytes={bytes}
        isLarge={isLarge}
        onError={failed}
      />
    )
  return (
    <Suspense fallback={blank}>
      {kind === 'image' && (
        <Picture key={url} url={url} name={file.name} onError={failed} onReady={onReady} />
      )}
      {kind === 'archive' && (
        <Archive
          key={url}
          url={url}
          size={file.size}
          onError={failed}
          render={(file, url, bytes) => <Preview file={file} url={url} bytes={bytes} isLarge />}
        />
      )}
      {kind === 'document' && <Document key={url} url={url} name={file.name} onError={failed} />}
      {kind === 'pdf' && <Pdf key={url} url={url} name={file.name} onError={failed} />}
    </Suspense>
  )
}
