import { charsetIn } from '../../documents/decode.ts'
import {
  encodeText,
  type LineBreak,
  lineBreakOf,
  type PlainText,
  readPlainText,
} from '../../documents/plain-text.ts'
import { isFailure } from '../../upload-engine/failure.ts'
import { MAX_TEXT_BYTES } from './editable.ts'
import { bytesOf, type Current, type TextPlace, write } from './place.ts'

/** A stored text: what the editor began with, or what it last saved. */
export interface Stored extends Omit<PlainText, 'mark'> {
  current: Current
  mark: Uint8Array<ArrayBuffer>
  lineBreak: LineBreak
}

/** Why a file cannot be edited. */
export type Refusal = 'gone' | 'tooLarge' | 'notText'

/**
 * Reads a text for editing.
 *
 * @throws TransferFailure
 */
export async function load(place: TextPlace): Promise<Stored | Refusal> {
  const current = await place.read()
  return current ? loadCurrent(current) : 'gone'
}

async function loadCurrent(current: Current): Promise<Stored | Refusal> {
  if (current.size > MAX_TEXT_BYTES) return 'tooLarge'
  const bytes = current.size === 0 ? new Uint8Array() : await bytesOf(current)
  const read = readPlainText(bytes, charsetIn(current.contentType))
  return read ? { current, ...read, lineBreak: lineBreakOf(read.text) } : 'notText'
}

/** The bytes of a text in the character set of the file; in UTF-8 if that is impossible. */
export function bytesToSave({ charset, mark, isKept }: Stored, text: string) {
  const encoded = isKept ? encodeText(text, charset) : undefined
  if (!encoded) return { charset: 'utf-8', mark: new Uint8Array(), bytes: inUtf8(text) }
  const bytes = new Uint8Array(mark.length + encoded.length)
  bytes.set(mark)
  bytes.set(encoded, mark.length)
  return { charset, mark, bytes }
}

const inUtf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

/** The media type, without the name of a character set that is no longer true. */
const typeOf = ({ current, charset }: Stored, saved: string): string =>
  saved === charset ? current.contentType : current.contentType.replace(/;\s*charset=[^;]*/i, '')

export type Outcome =
  | { kind: 'saved'; stored: Stored }
  /** Somebody has saved another text. */
  | { kind: 'conflict'; theirs: Stored }
  /** The file was deleted, moved out of the share, or replaced by something that is no text. */
  | { kind: 'gone' }

/** How often a move or a new name meanwhile leads to another attempt. */
const ATTEMPTS = 3

/**
 * Saves a text, if nobody has changed the file since `stored` was read.
 *
 * @throws TransferFailure
 */
export async function save(place: TextPlace, stored: Stored, text: string): Promise<Outcome> {
  const { bytes, charset, mark } = bytesToSave(stored, text)
  const contentType = typeOf(stored, charset)
  for (let attempt = 1; ; attempt++) {
    // Another file may have its name by now, and that may have the same revision.
    const current = await place.read()
    if (!current) return { kind: 'gone' }
    // Otherwise only its name or its place has changed.
    if (current.md5 !== stored.current.md5) {
      const theirs = await loadCurrent(current)
      if (typeof theirs === 'string') return { kind: 'gone' }
      // An earlier attempt has arrived, although its response has not.
      return theirs.text === text ? { kind: 'saved', stored: theirs } : { kind: 'conflict', theirs }
    }
    try {
      const { folder, name, revision } = current
      const { isShared } = place
      const to = { revision }
      const saved = await write({ folder, name, contentType, bytes, isShared, to })
      const now = { ...current, ...saved, contentType, size: bytes.length }
      const lineBreak = lineBreakOf(text, stored.lineBreak)
      return {
        kind: 'saved',
        stored: { text, charset, mark, lineBreak, isKept: true, current: now },
      }
    } catch (error) {
      const isOther = isFailure(error, 'REVISION_MISMATCH', 'FOLDER_NOT_FOUND', 'FILE_NOT_FOUND')
      if (!isOther || attempt === ATTEMPTS) throw error
    }
  }
}

/**
 * Saves a text as another file beside the edited one, with a free name. Returns the name.
 *
 * @throws TransferFailure
 */
export async function saveBeside(place: TextPlace, stored: Stored, text: string): Promise<string> {
  const { current } = stored
  const { bytes, charset } = bytesToSave(stored, text)
  const { name } = await write({
    folder: current.folder,
    name: current.name,
    contentType: typeOf(stored, charset),
    bytes,
    isShared: place.isShared,
    to: 'free name',
  })
  return name
}
