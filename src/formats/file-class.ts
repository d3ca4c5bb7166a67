import { essenceOf } from './media-type.ts'

/** File types that a search distinguishes. */
export const fileClasses = [
  'pdf',
  'image',
  'video',
  'audio',
  'document',
  'spreadsheet',
  'presentation',
  'archive',
  'text',
  'folder',
] as const
export type FileClass = (typeof fileClasses)[number]

const byType: [RegExp, FileClass][] = [
  [/^application\/pdf$/, 'pdf'],
  [/^image\//, 'image'],
  [/^video\//, 'video'],
  [/^audio\//, 'audio'],
  [/spreadsheet|ms-excel|^text\/csv|tab-separated/, 'spreadsheet'],
  [/presentation|ms-powerpoint/, 'presentation'],
  [/wordprocessing|msword|opendocument\.text|^application\/(rtf|epub\+zip)|^text\/rtf/, 'document'],
  [/zip|x-tar|gzip|x-7z|x-rar|vnd\.rar|x-bzip|x-xz|zstd|java-archive|x-iso9660/, 'archive'],
  [
    /^text\/|^message\/rfc822|^application\/(json|xml|javascript|x-sh|sql|yaml|toml|x-ndjson)|\+(json|xml)$/,
    'text',
  ],
]

const byExtension: Record<string, FileClass> = {
  pdf: 'pdf',
  ...of('image', 'heic heif raw cr2 nef dng psd'),
  ...of('video', 'mkv mov avi m4v webm'),
  ...of('audio', 'flac m4a ogg opus wav'),
  ...of('document', 'doc docx odt rtf epub pages'),
  ...of('spreadsheet', 'xls xlsx ods csv tsv numbers'),
  ...of('presentation', 'ppt pptx odp key'),
  ...of('archive', 'zip tar gz tgz bz2 xz zst 7z rar iso'),
  ...of(
    'text',
    'txt md markdown log json jsonl xml yaml yml toml ini conf cfg html htm css js mjs cjs ts tsx jsx py rb go rs java kt c h cc cpp hpp cs php sh bash sql tex rst org adoc eml vcf ics swift scala lua pl r dart vue svelte diff patch',
  ),
}

function of(name: FileClass, extensions: string): Record<string, FileClass> {
  return Object.fromEntries(extensions.split(' ').map(extension => [extension, name]))
}

export const extensionOf = (name: string): string =>
  /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase() ?? ''

/** The type of a file by its name and media type; null if it is unknown. */
export function fileClassOf(name: string, mediaType: string): FileClass | null {
  const extension = extensionOf(name)
  const type = essenceOf(mediaType)
  const says = type !== 'application/octet-stream' && type !== 'text/plain'
  return (
    (says && byType.find(([pattern]) => pattern.test(type))?.[1]) ||
    byExtension[extension] ||
    (type === 'text/plain' ? 'text' : null)
  )
}
