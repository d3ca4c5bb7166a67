import { extensionOf, fileClassOf } from '../formats/file-class.ts'

/** The formats of files with extractable text. Of `any` format, the bytes decide. */
export type TextFormat = 'text' | 'html' | 'mail' | 'pdf' | 'office' | 'any'

/**
 * The version of the reader of texts, a part of the key of each text. A change of what is read
 * increases it, and comes with a migration like 0046, so that existing files are read again.
 */
export const TEXT_VERSION = 2

/** The maximum size of files for text extraction, and of those that may have no text. */
export const MAX_TEXT_FILE = 64 * 1024 * 1024
export const MAX_UNKNOWN_FILE = 16 * 1024 * 1024

const byExtension: Record<string, TextFormat> = {
  ...of('html', 'html htm xhtml xht svg'),
  ...of('mail', 'eml mht mhtml mbox mbx'),
  pdf: 'pdf',
  ...of('text', 'csv tsv ts m3u m3u8 pls cue srt vtt sub ssa ass lrc rtf fodt fods fodp fodg'),
  ...of(
    'office',
    'docx docm dotx xlsx xlsm xltx pptx pptm ppsx potx odt ott ods ots odp otp odg epub',
  ),
}

/** Files that are never a text. Reading them would only take time. */
const binary = new Set(
  (
    'exe dll so dylib bin img dmg msi pkg deb rpm apk class jar pyc pyo o a lib obj wasm ttf otf ' +
    'woff woff2 eot ico sqlite db mdb accdb pst ost vmdk vdi qcow2 blend psd ai swf dat pak'
  ).split(' '),
)

function of(format: TextFormat, extensions: string): Record<string, TextFormat> {
  return Object.fromEntries(extensions.split(' ').map(extension => [extension, format]))
}

const OFFICE =
  /officedocument\.(wordprocessingml|spreadsheetml|presentationml)|opendocument\.(text|spreadsheet|presentation)$|epub\+zip$/

/**
 * The text format of a file, by its name and its media type; null if it has none. A file of an
 * unknown kind, such as `README` or `main.zig`, may be a text.
 */
export function textFormatOf(name: string, mediaType: string): TextFormat | null {
  const type = mediaType.toLowerCase().replace(/;.*/, '')
  const extension = extensionOf(name)
  const named = byExtension[extension]
  if (named) return named
  if (OFFICE.test(type)) return 'office'
  if (type === 'text/html' || type === 'application/xhtml+xml' || type === 'image/svg+xml')
    return 'html'
  if (type === 'message/rfc822') return 'mail'
  const fileClass = fileClassOf(name, mediaType)
  if (fileClass === 'pdf') return 'pdf'
  if (fileClass === 'text' || type === 'text/csv') return 'text'
  if (binary.has(extension) || /^(image|video|audio|archive)$/.test(fileClass ?? '')) return null
  return 'any'
}
