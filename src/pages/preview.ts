import { buffer } from 'node:stream/consumers'
import { sendBytes } from '../http/bytes.ts'
import { write } from '../http/write.ts'
import { decode } from '../renderers/decode.ts'
import { isText, isTooLarge, kindOf, type TextKind } from '../renderers/kinds.ts'
import { Unavailable } from '../runtime/errors.ts'
import type { Delivery } from '../services/sharing/download.ts'
import type { SharePage } from '../services/sharing/share-info.ts'
import { type PreviewView, renderText } from './views.ts'
import type { Visit } from './visit.ts'
import { nameOf, sizeOf } from './words.ts'

type PreviewKind = PreviewView['kind']
type Previewed = Pick<SharePage, 'fileName' | 'fileType' | 'size' | 'limited' | 'allowDownload'>

/** How much of a text is shown. */
const TEXT_BYTES = 64 * 1024
/** What is a few lines only. */
const SHORT_BYTES = 1000

/** How a share is shown on its page; why it is not, where one might expect it. */
export function previewOf({ fileName, fileType, size, limited, allowDownload }: Previewed): {
  kind: PreviewKind | null
  /** What a script makes of a text; null for one that stays as it is. */
  layout: TextKind | null
  /** Whether it needs little room. */
  short: boolean
  missing: string
} {
  const kind = kindOf({ name: fileName, contentType: fileType, size })
  const none = (missing: string) => ({ kind: null, layout: null, short: false, missing })
  // A list takes the bytes of the archive, and those are its content.
  if (!kind || (kind === 'archive' && !allowDownload)) return none('')
  if (limited)
    return none('There is no preview, because this link allows a limited number of downloads.')
  if (isTooLarge(kind, size))
    return none('There is no preview, because the file is too large for one.')
  if (!isText(kind)) return { kind, layout: null, short: false, missing: '' }
  return {
    kind: 'text',
    layout: kind === 'text' ? null : kind,
    short: size < SHORT_BYTES,
    missing: '',
  }
}

/**
 * Shows a file to the page that it belongs to. Its bytes pass the service, whatever is set for
 * downloads: a film is read in parts for longer than a signed address lives, and here the answer
 * says itself that it is nothing but what it is taken for.
 */
export async function sendPreview(
  visit: Visit,
  { kind, delivery, fileType }: { kind: PreviewKind; delivery: Delivery; fileType: string },
): Promise<void> {
  // Documents and texts are shown in a frame of our own page.
  visit.res.setHeader('x-frame-options', 'SAMEORIGIN')
  if (kind === 'text') return sendText(visit, delivery, fileType)
  return sendBytes(visit, delivery)
}

/** The beginning of a text in a page of ours: escaped, and in a sandbox besides. */
async function sendText(
  { req, res, signal }: Visit,
  delivery: Delivery,
  fileType: string,
): Promise<void> {
  const { size, fileName } = delivery
  const count = Math.min(size, TEXT_BYTES)
  const stream = await delivery.read({ offset: 0, count }, signal)
  const bytes = await buffer(stream).catch(cause => {
    throw new Unavailable('blob store', cause)
  })
  const text = decode(bytes, fileType)
  const rest =
    size > count ? `These are the first ${sizeOf(count).text} of ${sizeOf(size).text}.` : ''
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy':
      "sandbox; default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
  }
  write(res, req, { status: 200, headers, body: renderText(nameOf(fileName), { text, rest }) })
}
