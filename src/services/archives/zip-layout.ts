/*
 * The bytes of a ZIP archive whose files are stored as they are (PKWARE APPNOTE 6.3.10; ZIP64 where 32 bits are too few). Where everything
 * stands follows from names and sizes: the length is known before the archive is made, and any range of it can be made alone.
 */

/** A file or folder in an archive. */
export interface ZipEntry {
  /** The path of its folder in the archive, with a trailing slash; empty at the top. */
  prefix: string
  /** The name of a folder ends with a slash. */
  name: string
  /** Null for a folder. */
  blobId: string | null
  /** In bytes. */
  size: number
  /** Null if unknown. It is required once the bytes of the file have been sent. */
  crc32: number | null
  /** In milliseconds since 1970. */
  modifiedAt: number
}

/** A run of bytes of an archive: the content of a file, or the records between files. */
export interface Piece {
  size: number
  entry: ZipEntry | null
  /**
   * Builds the records between files; null for the content of a file. Requires the checksum of the
   * entry if the record contains it.
   */
  bytes: (() => Buffer) | null
}

const MAX_32 = 0xffffffff
const MAX_16 = 0xffff
/** Sizes of the fixed parts of the records. */
const LOCAL = 30
const CENTRAL = 46
const END = 22
const END_64 = 56
const LOCATOR_64 = 20
const TIMESTAMP = 9
/** UTF-8 names, and a descriptor after the bytes. */
const UTF8 = 1 << 11
const DESCRIBED = 1 << 3
const VERSION = 20
const VERSION_64 = 45
/** The attributes are Unix attributes. */
const MADE_BY = 3 * 256 + VERSION_64
const FILE_MODE = 0o100644 * 0x10000
/** MS-DOS reads the last digit as a folder. */
const FOLDER_MODE = 0o040755 * 0x10000 + 0x10

/** Numbers of 1, 2, 4 and 8 bytes in little endian, and texts. */
type Field = readonly [bytes: 1 | 2 | 4 | 8, value: number] | string

function pack(size: number, fields: readonly Field[]): Buffer {
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  for (const field of fields) {
    if (typeof field === 'string') at += bytes.write(field, at)
    else if (field[0] === 8) at = bytes.writeBigUInt64LE(BigInt(field[1]), at)
    else at = bytes.writeUIntLE(field[1], at, field[0])
  }
  if (at !== size)
    throw new Error('The size of a record of an archive differs from the announced size.')
  return bytes
}

const pathOf = ({ prefix, name }: ZipEntry): string => prefix + name
const pathSize = (entry: ZipEntry): number =>
  Buffer.byteLength(entry.prefix) + Buffer.byteLength(entry.name)

/** Seconds since 1970. */
const secondsOf = ({ modifiedAt }: ZipEntry) => Math.max(Math.floor(modifiedAt / 1000), 0)

/** The size of the extended timestamp, which ends in 2038. A later time is only in MS-DOS's. */
const timestampSize = (entry: ZipEntry): number => (secondsOf(entry) > 0x7fffffff ? 0 : TIMESTAMP)

/**
 * The MS-DOS time, from 1980 to 2107, in the time zone of the service, as programs write it.
 * Programs that know the extended timestamp ignore it; Windows Explorer shows it as it is.
 */
function dosTime(entry: ZipEntry): number {
  const at = new Date(secondsOf(entry) * 1000)
  const year = at.getFullYear()
  if (year < 1980) return FIRST_DOS_TIME
  if (year > 2107) return LAST_DOS_TIME
  const day = (year - 1980) * 512 + (at.getMonth() + 1) * 32 + at.getDate()
  return day * 0x10000 + at.getHours() * 2048 + at.getMinutes() * 32 + (at.getSeconds() >> 1)
}
/** 1980-01-01 00:00:00 and 2107-12-31 23:59:58. */
const FIRST_DOS_TIME = 0x00210000
const LAST_DOS_TIME = 0xff9fbf7d

const timestamp = (entry: ZipEntry): Field[] =>
  timestampSize(entry) === 0
    ? []
    : [
        [2, 0x5455],
        [2, TIMESTAMP - 4],
        [1, 1],
        [4, secondsOf(entry)],
      ]

/** The field for values that do not fit into 32 bits. */
const large = (values: number[]): Field[] =>
  values.length === 0
    ? []
    : [[2, 1], [2, 8 * values.length], ...values.map((value): Field => [8, value])]
const largeSize = (count: number): number => (count === 0 ? 0 : 4 + 8 * count)

/**
 * The part that the local header and the central directory share: from the version to the length of
 * the extra field.
 */
const facts = (entry: ZipEntry, flags: number, crc32: number, extra: number): Field[] => [
  [2, extra > timestampSize(entry) ? VERSION_64 : VERSION],
  [2, UTF8 + flags],
  [2, 0],
  [4, dosTime(entry)],
  [4, crc32],
  [4, Math.min(entry.size, MAX_32)],
  [4, Math.min(entry.size, MAX_32)],
  [2, pathSize(entry)],
  [2, extra],
]

/**
 * @param described whether a checksum follows each file, because some checksums are not known yet
 */
export function zipLayout(entries: readonly ZipEntry[], described: boolean) {
  const isLarge = ({ size }: ZipEntry) => size >= MAX_32
  const flagsOf = ({ blobId }: ZipEntry) => (described && blobId !== null ? DESCRIBED : 0)
  const sumOf = ({ blobId, crc32 }: ZipEntry): number => {
    if (blobId === null) return 0
    if (crc32 === null) throw new Error('The checksum of a file is unknown.')
    return crc32
  }

  function local(entry: ZipEntry): Piece {
    const extra = timestampSize(entry) + largeSize(isLarge(entry) ? 2 : 0)
    const size = LOCAL + pathSize(entry) + extra
    const flags = flagsOf(entry)
    const bytes = () =>
      pack(size, [
        [4, 0x04034b50],
        ...facts(entry, flags, flags === 0 ? sumOf(entry) : 0, extra),
        pathOf(entry),
        ...timestamp(entry),
        ...large(isLarge(entry) ? [entry.size, entry.size] : []),
      ])
    return { size, entry: null, bytes }
  }

  function descriptor(entry: ZipEntry): Piece {
    const width = isLarge(entry) ? 8 : 4
    const size = 8 + 2 * width
    const bytes = () =>
      pack(size, [
        [4, 0x08074b50],
        [4, sumOf(entry)],
        [width, entry.size],
        [width, entry.size],
      ])
    return { size, entry, bytes }
  }

  function central(entry: ZipEntry, offset: number): Piece {
    const isFar = offset >= MAX_32
    const values = [...(isLarge(entry) ? [entry.size, entry.size] : []), ...(isFar ? [offset] : [])]
    const extra = timestampSize(entry) + largeSize(values.length)
    const size = CENTRAL + pathSize(entry) + extra
    const bytes = () =>
      pack(size, [
        [4, 0x02014b50],
        [2, MADE_BY],
        ...facts(entry, flagsOf(entry), sumOf(entry), extra),
        // No comment, the first disk, no internal attributes.
        ...[2, 2, 2].map((width): Field => [width as 2, 0]),
        [4, entry.blobId === null ? FOLDER_MODE : FILE_MODE],
        [4, isFar ? MAX_32 : offset],
        pathOf(entry),
        ...timestamp(entry),
        ...large(values),
      ])
    return { size, entry: entry.blobId === null ? null : entry, bytes }
  }

  function end(start: number, length: number): Piece {
    const count = entries.length
    const needs64 = count >= MAX_16 || start >= MAX_32 || length >= MAX_32
    const size = END + (needs64 ? END_64 + LOCATOR_64 : 0)
    const end64: Field[] = [
      [4, 0x06064b50],
      [8, END_64 - 12],
      [2, MADE_BY],
      [2, VERSION_64],
      [4, 0],
      [4, 0],
      [8, count],
      [8, count],
      [8, length],
      [8, start],
      // The locator behind the central directory, on the only disk.
      [4, 0x07064b50],
      [4, 0],
      [8, start + length],
      [4, 1],
    ]
    const bytes = () =>
      pack(size, [
        ...(needs64 ? end64 : []),
        [4, 0x06054b50],
        [2, 0],
        [2, 0],
        [2, Math.min(count, MAX_16)],
        [2, Math.min(count, MAX_16)],
        [4, Math.min(length, MAX_32)],
        [4, Math.min(start, MAX_32)],
        [2, 0],
      ])
    return { size, entry: null, bytes }
  }

  /** All pieces in order. */
  function* pieces(): Generator<Piece> {
    let at = 0
    const pass = (piece: Piece): Piece => {
      at += piece.size
      return piece
    }
    for (const entry of entries) {
      yield pass(local(entry))
      if (entry.blobId === null) continue
      if (entry.size > 0) yield pass({ size: entry.size, entry, bytes: null })
      if (described) yield pass(descriptor(entry))
    }
    const start = at
    let offset = 0
    for (const entry of entries) {
      yield pass(central(entry, offset))
      offset += local(entry).size
      if (entry.blobId !== null) offset += entry.size + (described ? descriptor(entry).size : 0)
    }
    yield end(start, at - start)
  }

  let size = 0
  for (const piece of pieces()) size += piece.size
  return { size, pieces }
}

export type ZipLayout = ReturnType<typeof zipLayout>
