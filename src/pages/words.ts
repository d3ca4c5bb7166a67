import mime from 'mime'
import prettyBytes from 'pretty-bytes'
import type { Role } from '../access/roles.ts'
import type { ShownBrand } from '../http/brand.ts'
import { type Language, languages, locales } from '../language/languages.ts'
import { momentText } from '../values/moment.ts'
import { oneLine } from '../values/one-line.ts'
import { type TextKey, type Texts, textsIn } from './text.ts'

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

const archive =
  /[/+-](?:zip|gzip|x-tar|x-7z-compressed|vnd\.rar|x-rar-compressed|x-bzip2?|x-xz|zstd)$/
const table = /csv|tab-separated|ms-excel|spreadsheet/
const document = /pdf|msword|wordprocessing|opendocument\.text|presentation|powerpoint|rtf|epub/
const code = /json|xml|javascript|typescript|html|css|x-sh|python|yaml|toml|sql|wasm/

type KindKey = Extract<TextKey, `kind${string}`>

const kinds: [test: (type: string) => boolean, icon: Kind['icon'], label: KindKey][] = [
  [type => type.startsWith('image/'), 'image', 'kindImage'],
  [type => type.startsWith('video/'), 'video', 'kindVideo'],
  [type => type.startsWith('audio/'), 'audio', 'kindAudio'],
  [type => archive.test(type), 'archive', 'kindArchive'],
  [type => table.test(type), 'table', 'kindTable'],
  [type => document.test(type), 'document', 'kindDocument'],
  [type => code.test(type), 'code', 'kindCode'],
  [type => type.startsWith('text/'), 'text', 'kindText'],
]

const roles = {
  owner: 'roleOwner',
  admin: 'roleAdmin',
  editor: 'roleEditor',
  viewer: 'roleViewer',
} as const satisfies Record<Role, TextKey>

/** The words of pages in one language. Sizes are in bytes, times in milliseconds. */
export interface Words extends Texts {
  /** The name of a role. */
  roleOf(role: Role): string
  /** In binary units, like the limits of the plans. */
  sizeOf(bytes: number): Size
  momentOf(ms: number): Moment
  /** The day of a timestamp, for lists. */
  dayOf(ms: number): Moment
  /** The kind of a file, by its media type. The extension is included if it fits the type. */
  kindOf(name: string, fileType: string): Kind
  /** The name of a file as text. A name without a visible character is described instead. */
  nameOf(text: string): string
  fileOf(name: string, fileType: string, bytes: number): ShownFile
  folderOf(name: string, bytes: number): ShownFile
}

function makeWords(language: Language, brand: Pick<ShownBrand, 'name'>): Words {
  const texts = textsIn(language, brand)
  const { say } = texts
  const locale = locales[language]
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })

  const sizeOf = (bytes: number): Size => ({
    text: prettyBytes(bytes, { binary: true, locale }),
    exact: say('bytes', { count: bytes }),
  })

  function kindOf(name: string, fileType: string): Kind {
    const type = fileType.replace(/;.*/, '')
    const [, icon, label] = kinds.find(([test]) => test(type)) ?? [
      null,
      'file' as const,
      'kindFile' as const,
    ]
    const [, ending = ''] = /\.([a-z0-9]{1,8})$/i.exec(name) ?? []
    const known = ending !== '' && mime.getType(`./x.${ending}`) === type ? 'yes' : 'no'
    return { icon, label: say(label, { known, ending: ending.toUpperCase() }) }
  }

  const nameOf = (text: string): string => oneLine(text) || say('noName')

  return {
    ...texts,
    roleOf: role => say(roles[role]),
    sizeOf,
    momentOf: ms => ({ iso: new Date(ms).toISOString(), text: momentText(ms, locale) }),
    dayOf: ms => ({ iso: new Date(ms).toISOString(), text: days.format(ms) }),
    kindOf,
    nameOf,
    fileOf: (name, fileType, bytes) => ({
      name: nameOf(name),
      kind: kindOf(name, fileType),
      size: sizeOf(bytes),
    }),
    folderOf: (name, bytes) => ({
      name: nameOf(name),
      kind: { label: say('kindFolder'), icon: 'folder' },
      size: sizeOf(bytes),
    }),
  }
}

/** The words of pages by language, for an installation with this name. */
export function wordsOf(brand: Pick<ShownBrand, 'name'>): (language: Language) => Words {
  const all = Object.fromEntries(languages.map(one => [one, makeWords(one, brand)]))
  return language => all[language] as Words
}

/** The sharer of a page; null if there is nothing to show. */
export const sharerOf = (sharer: Parameters<typeof personOf>[0] | null): Person | null =>
  sharer && (sharer.name || sharer.email) ? personOf(sharer) : null

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
