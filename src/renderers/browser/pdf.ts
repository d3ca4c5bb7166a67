import type { FrameLabels, FromFrame, ToFrame } from '../pdf-frame/messages.ts'

/**
 * The page with pdf.js. It has an opaque origin, so it can neither read from the service nor act
 * for anyone.
 */
export const PDF_FRAME = '/pages/pdf'
/** Sandbox permissions: run the frame's own script, and open links that people click. */
export const PDF_SANDBOX = 'allow-scripts allow-popups allow-popups-to-escape-sandbox'

interface Shown {
  frame: HTMLIFrameElement
  /** URL of the document. */
  url: string
  labels: FrameLabels
  /** Aborts the request and removes the listeners. */
  signal: AbortSignal
  onError: () => void
}

/** Keys that the page accepts from the frame, which a malicious document may control. */
const PASSED = ['Escape', 'ArrowLeft', 'ArrowRight']

/**
 * Shows a document in the frame. Keys that the frame does not use are dispatched at the frame's
 * element, so that the page can handle them.
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
          // An opaque origin cannot be named as a target.
          frame.contentWindow?.postMessage(message, '*', [read])
        })
        .catch(() => {})
  }
  addEventListener('message', onMessage, { signal })
}
