import { useEffect, useRef, useState } from 'react'
import { showDocument } from '../../renderers/browser/document.ts'

interface DocumentProps {
  url: string
  name: string
  onError: () => void
}

/** The text and the tables of a document. */
export default function Document({ url, name, onError }: DocumentProps) {
  const [shown, setShown] = useState<Node>()
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const gone = new AbortController()
    showDocument(url, gone.signal)
      .then(setShown)
      .catch(() => gone.signal.aborted || onError())
    return () => gone.abort()
  }, [url, onError])
  useEffect(() => {
    if (shown) place.current?.replaceChildren(shown)
  }, [shown])
  return (
    <div className="preview text markdown">
      <div
        className="text-scroll"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable elements must be reachable by keyboard
        tabIndex={0}
        ref={place}
        role="region"
        aria-label={name}
      />
    </div>
  )
}
