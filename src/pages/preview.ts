import { buffer } from 'node:stream/consumers'
import { sendBytes } from '../http/bytes.ts'
import { write } from '../http/write.ts'
import { Unavailable } from '../runtime/errors.ts'
import type { Delivery } from '../services/sharing/download.ts'
import type { SharePage } from '../services/sharing/share-info.ts'
import { type PreviewView, renderText } from './views.ts'
import type { Visit } from './visit.ts'
import { nameOf, sizeOf } from './words.ts'

type PreviewKind = PreviewView['kind']

/** How much of a text is shown. */
const TEXT_BYTES = 64 * 1024
/** What is a few lines only. */
const SHORT_BYTES = 1000
/** A browser takes a picture or a document as a whole. */
const WHOLE_BYTES = 50 * 1024 * 1024

const typesOf = (family: string, ...names: string[]) => names.map(name => `${family}/${name}`)

/** What every browser of today displays itself. Anything else is only downloaded, whatever its name says. */
const shown: [kind: PreviewKind, types: string[]][] = [
  ['image', typesOf('image', 'png', 'jpeg', 'gif', 'webp', 'avif', 'bmp', 'apng', 'x-icon', 'vnd.microsoft.icon')],
  ['pdf', ['application/pdf']],
  [
    'audio',
    typesOf('audio', 'mpeg', 'mp4', 'x-m4a', 'aac', 'ogg', 'opus', 'webm', 'wav', 'x-wav', 'wave', 'flac', 'x-flac'),
  ],
  ['video', typesOf('video', 'mp4', 'webm', 'ogg')],
  ['text', [...typesOf('text', 'plain', 'markdown', 'csv', 'tab-separated-values'), 'application/json']],
]

const essenceOf = (fileType: string) => fileType.replace(/;.*/, '')

/** How a file can be shown; undefined for one that can only be downloaded. */
export const previewKind = (fileType: string): PreviewKind | undefined =>
  shown.find(([, types]) => types.includes(essenceOf(fileType)))?.[0]

const isTooLarge = (kind: PreviewKind, size: number) => (kind === 'image' || kind === 'pdf') && size > WHOLE_BYTES

/** How a share is shown on its page; why it is not, where one might expect it. */
export function previewOf({ fileType, size, limited }: Pick<SharePage, 'fileType' | 'size' | 'limited'>): {
  kind: PreviewKind | null
  /** Whether it needs little room. */
  short: boolean
  missing: string
} {
  const kind = previewKind(fileType)
  const none = (missing: string) => ({ kind: null, short: false, missing })
  if (!kind) return none('')
  if (limited) return none('There is no preview, because this link allows a limited number of downloads.')
  if (isTooLarge(kind, size)) return none('There is no preview, because the file is too large for one.')
  return { kind, short: kind === 'text' && size < SHORT_BYTES, missing: '' }
}

/**
 * Shows a file to the page that it belongs to. Its bytes pass the service, whatever is set for downloads: a film is read in
 * parts for longer than a signed address lives, and here the answer says itself that it is nothing but what it is taken for.
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
async function sendText({ req, res, signal }: Visit, delivery: Delivery, fileType: string): Promise<void> {
  const { size, fileName } = delivery
  const count = Math.min(size, TEXT_BYTES)
  const stream = await delivery.read({ offset: 0, count }, signal)
  const bytes = await buffer(stream).catch(cause => {
    throw new Unavailable('blob store', cause)
  })
  const text = decode(bytes, fileType)
  const rest = size > count ? `These are the first ${sizeOf(count).text} of ${sizeOf(size).text}.` : ''
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy':
      "sandbox; default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
  }
  write(res, req, { status: 200, headers, body: renderText(nameOf(fileName), { text, rest }) })
}

/** The text in some bytes: as the mark says that they begin with, else as the type says, else UTF-8. */
function decode(bytes: Buffer, fileType: string): string {
  const [, said = 'utf-8'] = /;\s*charset=([\w:.+-]+)/.exec(fileType) ?? []
  const marks: [bytes: string, encoding: string][] = [
    ['fffe', 'utf-16le'],
    ['feff', 'utf-16be'],
    ['efbbbf', 'utf-8'],
  ]
  const [, marked] = marks.find(([mark]) => bytes.toString('hex', 0, 3).startsWith(mark)) ?? []
  // As a stream: of a character that the cut goes through, nothing is shown.
  return new TextDecoder(marked ?? said).decode(bytes, { stream: true })
}
