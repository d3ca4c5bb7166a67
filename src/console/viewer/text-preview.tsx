import { useEffect, useRef, useState } from 'react'
import type { NamedFile, TextKind } from '../../formats/viewer.ts'
import { layOut } from '../../renderers/browser/text.ts'
import { formatBytes } from '../i18n/format.ts'
import { text } from './text.ts'

/** How many bytes of a text are shown. */
const TEXT_BYTES = 256 * 1024

interface TextPreviewProps {
  kind: TextKind
  file: NamedFile
  url: string
  /** The content, if it is in memory already. */
  bytes?: Uint8Array<ArrayBuffer> | undefined
  /** Small previews show plain text. */
  isLarge: boolean
  onError: () => void
}

/** The beginning of a text, rendered by its kind. */
export function TextPreview({ kind, file, url, bytes: given, isLarge, onError }: TextPreviewProps) {
  const { name, contentType, size } = file
  const [shown, setShown] = useState<Node>()
  const isCut = size > TEXT_BYTES
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const gone = new AbortController()
    const headers = isCut ? { range: `bytes=0-${TEXT_BYTES - 1}` } : undefined
    const load = async () => {
      if (given) return given.subarray(0, TEXT_BYTES)
      const response = await fetch(url, { signal: gone.signal, headers })
      if (!response.ok) throw new Error(response.statusText)
      return new Uint8Array(await response.arrayBuffer())
    }
    load()
      .then(async bytes => {
        const { charsetIn, decode } = await import('../../documents/decode.ts')
        const read = decode(bytes, charsetIn(contentType))
        setShown(await layOut(isLarge ? kind : 'text', name, read))
      })
      .catch(() => gone.signal.aborted || onError())
    return () => gone.abort()
  }, [url, given, isCut, kind, name, contentType, isLarge, onError])
  useEffect(() => {
    if (shown) place.current?.replaceChildren(shown)
  }, [shown])
  return (
    <div className={`preview text ${isLarge ? kind : 'text'}`}>
      <div
        className="text-scroll"
        dir="auto"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable elements must be reachable by keyboard
        tabIndex={0}
        ref={place}
        role="region"
        aria-label={name}
      />
      {isLarge && isCut && shown && (
        <p className="text-cut">
          {text('textCut', { shown: formatBytes(TEXT_BYTES), size: formatBytes(size) })}
        </p>
      )}
    </div>
  )
}
