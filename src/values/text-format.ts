import { extensionOf, fileClassOf } from './file-class.ts'

/** The formats of files with extractable text. */
export type TextFormat = 'text' | 'html' | 'mail' | 'pdf' | 'office'

/** The maximum size of files for text extraction. */
export const MAX_TEXT_FILE = 64 * 1024 * 1024

const byExtension: Record<string, TextFormat> = {
  html: 'html',
  htm: 'html',
  xhtml: 'html',
  eml: 'mail',
  pdf: 'pdf',
  csv: 'text',
  tsv: 'text',
  ts: 'text',
  docx: 'office',
  docm: 'office',
  xlsx: 'office',
  xlsm: 'office',
  pptx: 'office',
  pptm: 'office',
  odt: 'office',
  ods: 'office',
  odp: 'office',
}

const OFFICE =
  /officedocument\.(wordprocessingml|spreadsheetml|presentationml)|opendocument\.(text|spreadsheet|presentation)$/

/** The text format of a file, by its name and its media type; null if it has none. */
export function textFormatOf(name: string, mediaType: string): TextFormat | null {
  const type = mediaType.toLowerCase().replace(/;.*/, '')
  const named = byExtension[extensionOf(name)]
  if (named) return named
  if (OFFICE.test(type)) return 'office'
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html'
  if (type === 'message/rfc822') return 'mail'
  const fileClass = fileClassOf(name, mediaType)
  if (fileClass === 'pdf') return 'pdf'
  return fileClass === 'text' || type === 'text/csv' ? 'text' : null
}
