import mime from 'mime'
import prettyBytes from 'pretty-bytes'
import { momentText } from '../values/moment.ts'
import { oneLine } from '../values/one-line.ts'

/** A size, rounded for people and exact. */
export interface Size {
  text: string
  exact: string
}

/** A timestamp, for machines and for people. */
export interface Moment {
  iso: string
  text: string
}

export interface Kind {
  icon:
    | 'image'
    | 'video'
    | 'audio'
    | 'document'
    | 'text'
    | 'table'
    | 'archive'
    | 'code'
    | 'folder'
    | 'file'
  label: string
}

/** The fields of a file that every page shows. */
export interface ShownFile {
  name: string
  kind: Kind
  size: Size
}

/** A person as pages show them. */
export interface Person {
  name: string
  email: string
  /** Whether the email address was never verified. */
  unverified?: boolean
}

const numbers = new Intl.NumberFormat('en')

export const number = (n: number): string => numbers.format(n)
export const count = (n: number, noun: string): string =>
  `${number(n)} ${noun}${n === 1 ? '' : 's'}`

/** In binary units, like the limits of the plans. */
export const sizeOf = (bytes: number): Size => ({
  text: prettyBytes(bytes, { binary: true }),
  exact: count(bytes, 'byte'),
})

export const momentOf = (ms: number): Moment => ({
  iso: new Date(ms).toISOString(),
  text: momentText(ms),
})

const days = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })

/** The day of a timestamp, for lists. */
export const dayOf = (ms: number): Moment => ({
  iso: new Date(ms).toISOString(),
  text: days.format(ms),
})

const archive =
  /[/+-](?:zip|gzip|x-tar|x-7z-compressed|vnd\.rar|x-rar-compressed|x-bzip2?|x-xz|zstd)$/
const table = /csv|tab-separated|ms-excel|spreadsheet/
const document = /pdf|msword|wordprocessing|opendocument\.text|presentation|powerpoint|rtf|epub/
const code = /json|xml|javascript|typescript|html|css|x-sh|python|yaml|toml|sql|wasm/

const kinds: [test: (type: string) => boolean, icon: Kind['icon'], word: string][] = [
  [type => type.startsWith('image/'), 'image', 'image'],
  [type => type.startsWith('video/'), 'video', 'video'],
  [type => type.startsWith('audio/'), 'audio', 'audio'],
  [type => archive.test(type), 'archive', 'archive'],
  [type => table.test(type), 'table', 'table'],
  [type => document.test(type), 'document', 'document'],
  [type => code.test(type), 'code', 'file'],
  [type => type.startsWith('text/'), 'text', 'text file'],
]

/** The kind of a file, by its media type. The extension is included if it fits the type. */
export function kindOf(name: string, fileType: string): Kind {
  const type = fileType.replace(/;.*/, '')
  const [, icon, word] = kinds.find(([test]) => test(type)) ?? [null, 'file' as const, 'file']
  const [, ending] = /\.([a-z0-9]{1,8})$/i.exec(name) ?? []
  const known = ending !== undefined && icon !== 'text' && mime.getType(`./x.${ending}`) === type
  const label = known ? `${ending.toUpperCase()} ${word}` : word
  return { icon, label: label.charAt(0).toUpperCase() + label.slice(1) }
}

/** The name of a file as text. A name without a visible character is described instead. */
export const nameOf = (text: string): string => oneLine(text) || 'A file without a name'

export const fileOf = (name: string, fileType: string, bytes: number): ShownFile => ({
  name: nameOf(name),
  kind: kindOf(name, fileType),
  size: sizeOf(bytes),
})

export const folderOf = (name: string, bytes: number): ShownFile => ({
  name: nameOf(name),
  kind: { label: 'Folder', icon: 'folder' },
  size: sizeOf(bytes),
})

/** A person: the chosen name, and the email address as proof of identity if it is verified. */
export function personOf({
  name,
  email,
  verified,
}: {
  name: string
  email: string
  verified: boolean
}): Person {
  const shown = oneLine(name)
  return { name: shown === email ? '' : shown, email: oneLine(email), unverified: !verified }
}
