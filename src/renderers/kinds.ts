/** How a file can be shown. */
export type Kind = 'image' | 'video' | 'audio' | 'pdf' | 'archive' | TextKind
/**
 * A text, and how it is laid out: as it is, as Markdown, as a table, or coloured by the grammar of
 * a language.
 */
export type TextKind = 'text' | 'markdown' | 'table' | 'source'

/** A browser takes a picture or a document as a whole. */
const WHOLE_BYTES = 50 * 1024 * 1024
/** Far more than people write by hand, and less than a second of a film. */
const SOURCE_BYTES = 512 * 1024

/** What browsers display themselves. SVG is missing: it can carry scripts. */
const byType: [types: RegExp, kind: Kind][] = [
  [/^image\/(png|jpeg|gif|webp|avif|bmp|apng|x-icon|vnd\.microsoft\.icon)$/, 'image'],
  [/^application\/pdf$/, 'pdf'],
  [/^audio\/(mpeg|mp4|x-m4a|aac|ogg|opus|webm|wav|x-wav|wave|flac|x-flac)$/, 'audio'],
  [/^video\/(mp4|webm|ogg)$/, 'video'],
  [
    /^(application\/(zip|x-zip-compressed|java-archive|epub\+zip)|application\/vnd\.android\.package-archive)$/,
    'archive',
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
 * Grammars by the ends of names: media types know few languages, and most services know none for
 * them.
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
const byName: Record<string, string> = { dockerfile: 'bash', makefile: 'makefile' }

export interface NamedFile {
  name: string
  /** Its media type, with or without parameters. */
  contentType: string
  /** In bytes. */
  size: number
}

/** The grammar by which a text is coloured; undefined for one that has none. */
export function languageOf(name: string): string | undefined {
  const lower = name.toLowerCase()
  return byName[lower] ?? byEnding[/\.([^.]+)$/.exec(lower)?.[1] ?? '']
}

/**
 * How a file can be shown without running anything of it, whatever its size; undefined for one that
 * can only be downloaded.
 */
export function kindOf({ name, contentType, size }: NamedFile): Kind | undefined {
  const essence = contentType.replace(/;.*/, '').trim().toLowerCase()
  const isSource = languageOf(name) !== undefined && size <= SOURCE_BYTES
  // Names of TypeScript end like those of MPEG transport streams.
  if (
    isSource &&
    /^(application\/octet-stream|text\/html|image\/svg\+xml|video\/mp2t)$/.test(essence)
  )
    return 'source'
  const kind =
    byType.find(([types]) => types.test(essence))?.[1] ?? (isSource ? 'source' : undefined)
  return kind === 'text' && languageOf(name) ? 'source' : kind
}

/**
 * Whether a file of a kind is too large for a browser, which takes pictures and documents as a
 * whole.
 */
export const isTooLarge = (kind: Kind, size: number): boolean =>
  (kind === 'image' || kind === 'pdf') && size > WHOLE_BYTES

/** Whether a kind is a text, of which the beginning is read. */
export const isText = (kind: Kind | undefined): kind is TextKind =>
  kind === 'text' || kind === 'markdown' || kind === 'table' || kind === 'source'
