import { useEffect, useRef } from 'react'
import { PDF_FRAME, PDF_SANDBOX, showPdf } from '../../renderers/browser/pdf.ts'
import { text } from './text.ts'

const labels = {
  zoomIn: text('zoomIn'),
  zoomOut: text('zoomOut'),
  find: text('pdfFind'),
  page: text('pdfPage'),
  // The frame inserts the number.
  pages: text('pdfPages', { count: '{count}' }),
  notFound: text('pdfNotFound'),
}

/** A PDF document, rendered by pdf.js in its own frame. */
export default function Pdf({
  url,
  name,
  onError,
}: {
  url: string
  name: string
  onError: () => void
}) {
  const frame = useRef<HTMLIFrameElement>(null)
  useEffect(() => {
    const gone = new AbortController()
    if (frame.current) showPdf({ frame: frame.current, url, labels, signal: gone.signal, onError })
    return () => gone.abort()
  }, [url, onError])
  return (
    <div className="preview pdf">
      <iframe ref={frame} src={PDF_FRAME} sandbox={PDF_SANDBOX} title={name} />
    </div>
  )
}
