import type { Writable } from 'node:stream'

/**
 * The boundary search of busboy, from the package streamsearch. It is internal, so its shape is
 * checked.
 */
interface Search {
  push(chunk: Buffer, from: number): number
  _needle: Buffer
  /** The number of bytes at the end of earlier chunks that may start a boundary. */
  _lookbehindSize: number
  _cb(isMatch: boolean, data: Buffer, start: number, end: number, isDataSafe: boolean): void
}

const isSearch = (value: object | undefined): value is Search =>
  value !== undefined &&
  'push' in value &&
  '_needle' in value &&
  '_lookbehindSize' in value &&
  '_cb' in value &&
  Buffer.isBuffer(value._needle) &&
  typeof value._cb === 'function'

const CR = 13

/** Whether a chunk contains a boundary or ends with the start of one. */
const mayMatch = (chunk: Buffer, boundary: Buffer): boolean =>
  chunk.includes(boundary) || chunk.includes(CR, Math.max(0, chunk.length - boundary.length + 1))

/**
 * Makes busboy skip chunks without a boundary by a native search. Its JavaScript search takes a
 * tenth of an upload's CPU time. Busboy still searches every chunk that may contain a boundary.
 * @returns whether the parser has the expected shape; other parsers are left unchanged
 */
export function searchNatively(parser: Writable): boolean {
  const search = (parser as { _bparser?: object })._bparser
  if (!isSearch(search)) return false
  const push = search.push.bind(search)
  search.push = (chunk, from) => {
    if (
      from > 0 ||
      chunk.length === 0 ||
      search._lookbehindSize > 0 ||
      mayMatch(chunk, search._needle)
    )
      return push(chunk, from)
    search._cb(false, chunk, 0, chunk.length, true)
    return chunk.length
  }
  return true
}
