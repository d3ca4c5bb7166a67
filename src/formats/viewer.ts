import { essenceOf } from './media-type.ts'

/** How a file can be shown. */
export type Kind = 'image' | 'video' | 'audio' | 'pdf' | 'archive' | 'document' | TextKind
/** How a text is rendered: as plain text, as Markdown, as a table, or with syntax highlighting. */
export type TextKind = 'text' | 'markdown' | 'table' | 'source'

/** Browsers load a whole picture or document into memory. */
const WHOLE_BYTES = 50 * 1024 * 1024
/** Larger than almost any hand-written source file. */
const SOURCE_BYTES = 512 * 1024

/**
 * Media types that browsers display themselves. SVG is missing, because it can contain scripts. Not
 * every browser shows each of them: HEIC is for Safari, and a browser that lacks the codec of a
 * video reports an error.
 */
const byType: [types: RegExp, kind: Kind][] = [
  [
    /^image\/(png|jpeg|gif|webp|avif|bmp|apng|vnd\.microsoft\.icon|jxl|hei[cf](-sequence)?)$/,
    'image',
  ],
  [/^application\/pdf$/, 'pdf'],
  [/^audio\/(mpeg|mp4|x-m4a|aac|ogg|opus|webm|wav|x-wav|wave|flac|x-flac)$/, 'audio'],
  [/^video\/(mp4|webm|ogg|quicktime|x-m4v|x-matroska|3gpp2?)$/, 'video'],
  [
    /^(application\/(zip|java-archive|epub\+zip)|application\/vnd\.android\.package-archive)$/,
    'archive',
  ],
  [
    /^application\/vnd\.(openxmlformats-officedocument\.(wordprocessingml|spreadsheetml|presentationml)\.|oasis\.opendocument\.(text|spreadsheet|presentation)$|ms-(word|excel|powerpoint)\.\w+\.macroenabled)/,
    'document',
  ],
  [/^text\/markdown$/, 'markdown'],
  [/^text\/(csv|tab-separated-values)$/, 'table'],
  [
    /^text\/(css|xml|typescript|javascript|x-[\w.+-]+)$|^application\/(json|xml|yaml|toml|javascript|sql|x-sh)$/,
    'source',
  ],
  [/^text\/plain$/, 'text'],
]

/**
 * Grammars by file extension, because media types cover few languages, and many services send none.
 */
const byEnding: Record<string, string> = Object.fromEntries(
  (
    [
      ['bash', 'sh bash zsh'],
      ['c', 'c h'],
      ['cpp', 'cc cpp cxx hpp hh'],
      ['csharp', 'cs'],
      ['css', 'css'],
      ['diff', 'diff patch'],
      ['go', 'go'],
      ['graphql', 'graphql gql'],
      ['ini', 'ini toml conf properties'],
      ['java', 'java'],
      ['javascript', 'js cjs mjs jsx'],
      ['json', 'json jsonc'],
      ['kotlin', 'kt kts'],
      ['less', 'less'],
      ['lua', 'lua'],
      ['makefile', 'mk'],
      ['perl', 'pl pm'],
      ['php', 'php'],
      ['python', 'py'],
      ['r', 'r'],
      ['ruby', 'rb'],
      ['rust', 'rs'],
      ['scss', 'scss'],
      ['sql', 'sql'],
      ['swift', 'swift'],
      ['typescript', 'ts cts mts tsx'],
      ['vbnet', 'vb'],
      ['xml', 'xml html htm xhtml svg vue'],
      ['yaml', 'yaml yml'],
    ] as const
  ).flatMap(([language, endings]) => endings.split(' ').map(ending => [ending, language])),
)
/** Documents that services send as bytes of an unknown kind. */
const office = /\.(docx|docm|xlsx|xlsm|pptx|pptm|odt|ods|odp)$/i
const byName: Record<string, string> = { dockerfile: 'bash', makefile: 'makefile' }

export interface NamedFile {
  name: string
  /** Its media type, with or without parameters. */
  contentType: string
  /** In bytes. */
  size: number
}

/** The grammar for syntax highlighting; undefined if there is none. */
export function languageOf(name: string): string | undefined {
  const lower = name.toLowerCase()
  return byName[lower] ?? byEnding[/\.([^.]+)$/.exec(lower)?.[1] ?? '']
}

/**
 * How a file can be shown without executing anything in it, whatever its size. Undefined for files
 * that can only be downloaded.
 */
export function kindOf({ name, contentType, size }: NamedFile): Kind | undefined {
  const essence = essenceOf(contentType)
  const isSource = languageOf(name) !== undefined && size <= SOURCE_BYTES
  if (isSource && /^(application\/octet-stream|text\/html|image\/svg\+xml)$/.test(essence))
    return 'source'
  const kind =
    byType.find(([types]) => types.test(essence))?.[1] ??
    (isSource && !/^(image|audio|video)\//.test(essence) ? 'source' : undefined)
  if (kind === undefined && office.test(name)) return 'document'
  return kind === 'text' && languageOf(name) ? 'source' : kind
}

/** Whether the file is too large for a browser, which loads a whole picture or document. */
export const isTooLarge = (kind: Kind, size: number): boolean =>
  (kind === 'image' || kind === 'pdf' || kind === 'document') && size > WHOLE_BYTES

/** Whether files of a kind are text. The viewer reads only the beginning of a text file. */
export const isText = (kind: Kind | undefined): kind is TextKind =>
  kind === 'text' || kind === 'markdown' || kind === 'table' || kind === 'source'
