import type { FrameLabels, FromFrame, ToFrame } from '../pdf-frame/messages.ts'

/**
 * The page of pdf.js. It has no origin: it can read nothing of the service, and acts for nobody.
 */
export const PDF_FRAME = '/pages/pdf'
/** What the frame may do: run its own script, and open links that people follow. */
export const PDF_SANDBOX = 'allow-scripts allow-popups allow-popups-to-escape-sandbox'

interface Shown {
  frame: HTMLIFrameElement
  /** Of the bytes of the document. */
  url: string
  labels: FrameLabels
  /** Ends the request, and stops listening to the frame. */
  signal: AbortSignal
  onError: () => void
}

/** The keys that the page around it takes from the frame, which a document may have taken over. */
const PASSED = ['Escape', 'ArrowLeft', 'ArrowRight']

/**
 * Shows a document in the frame. Keys that the frame has no use for are those of the page around
 * it: they are dispatched at the frame's element.
 */
export function showPdf({ frame, url, labels, signal, onError }: Shown): void {
  const bytes = fetch(url, { signal }).then(async response => {
    if (!response.ok) throw new Error(response.statusText)
    return response.arrayBuffer()
  })
  bytes.catch(() => signal.aborted || onError())
  const onMessage = ({ source, data }: MessageEvent<FromFrame | null>) => {
    if (source !== frame.contentWindow || !data) return
    if (data.type === 'failed') onError()
    if (data.type === 'key' && PASSED.includes(data.key))
      frame.dispatchEvent(new KeyboardEvent('keydown', { key: data.key, bubbles: true }))
    if (data.type === 'ready')
      bytes
        .then(read => {
          const message: ToFrame = {
            type: 'open',
            bytes: read,
            labels,
            lang: document.documentElement.lang,
          }
          // The frame has no origin that could be named.
          frame.contentWindow?.postMessage(message, '*', [read])
        })
        .catch(() => {})
  }
  addEventListener('message', onMessage, { signal })
}
