import { charsetIn, decode } from '../documents/decode.ts'
import { isText, isTooLarge, kindOf, type TextKind } from '../formats/viewer.ts'
import { sendBytes } from '../http/bytes.ts'
import { write } from '../http/write.ts'
import { Unavailable } from '../runtime/errors.ts'
import type { Delivery } from '../services/sharing/download.ts'
import type { SharePage } from '../services/sharing/share-info.ts'
import { joined } from '../storage/chunks.ts'
import { type PreviewView, renderText } from './views.ts'
import type { Visit } from './visit.ts'
import type { Words } from './words.ts'

type PreviewKind = PreviewView['kind']
type Previewed = Pick<SharePage, 'fileName' | 'fileType' | 'size' | 'limited' | 'allowDownload'>

/** How many bytes of a text are shown. */
const TEXT_BYTES = 64 * 1024
/** Texts up to this size need only a small frame. */
const SHORT_BYTES = 1000

/**
 * How the page shows a shared file. If there is no preview where one could be expected, it says
 * why.
 */
export function previewOf(
  { fileName, fileType, size, limited, allowDownload }: Previewed,
  { say }: Pick<Words, 'say'>,
): {
  kind: PreviewKind | null
  /** How a script renders a text; null for plain text. */
  layout: TextKind | null
  /** Whether a small frame is enough. */
  short: boolean
  missing: string
} {
  const kind = kindOf({ name: fileName, contentType: fileType, size })
  const none = (missing: string) => ({ kind: null, layout: null, short: false, missing })
  // The bytes of an archive are its content, and those of a document may have deleted text.
  if (!kind || ((kind === 'archive' || kind === 'document') && !allowDownload)) return none('')
  if (limited) return none(say('noPreviewLimited'))
  if (isTooLarge(kind, size)) return none(say('noPreviewLarge'))
  if (!isText(kind)) return { kind, layout: null, short: false, missing: '' }
  return {
    kind: 'text',
    layout: kind === 'text' ? null : kind,
    short: size < SHORT_BYTES,
    missing: '',
  }
}

/**
 * Serves the preview of a file to its page. The bytes always pass through the service, whatever the
 * setting for downloads: a video is read in parts for longer than a signed URL lives, and the
 * response can enforce its content type.
 */
export async function sendPreview(
  visit: Visit,
  { kind, delivery, fileType }: { kind: PreviewKind; delivery: Delivery; fileType: string },
): Promise<void> {
  // Our own page shows documents and texts in a frame.
  visit.res.setHeader('x-frame-options', 'SAMEORIGIN')
  if (kind === 'text') return sendText(visit, delivery, fileType)
  return sendBytes(visit, delivery)
}

/** Serves the beginning of a text as a page: escaped, and sandboxed as well. */
async function sendText(
  { req, res, signal, words }: Visit,
  delivery: Delivery,
  fileType: string,
): Promise<void> {
  const { say, sizeOf, nameOf } = words
  const { size, fileName } = delivery
  const count = Math.min(size, TEXT_BYTES)
  const chunks = await delivery.read({ offset: 0, count }, signal)
  const bytes = await joined(chunks).catch(cause => {
    throw new Unavailable('blob store', cause)
  })
  const text = decode(bytes, charsetIn(fileType))
  const rest =
    size > count ? say('firstOf', { shown: sizeOf(count).text, size: sizeOf(size).text }) : ''
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy':
      "sandbox; default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
  }
  write(res, req, {
    status: 200,
    headers,
    body: renderText(words, nameOf(fileName), { text, rest }),
  })
}
