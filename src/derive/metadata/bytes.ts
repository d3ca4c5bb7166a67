import { fstatSync, readSync } from 'node:fs'

const PAGE = 64 * 1024
const PAGES = 8

/** Random access to a file, of which the pages that were read last stay in memory. */
export class Bytes {
  readonly size: number
  readonly #file: number
  readonly #pages = new Map<number, Buffer>()

  constructor(file: number) {
    this.#file = file
    this.size = fstatSync(file).size
  }

  /** The bytes from an offset on; fewer at the end of the file, none beyond it. */
  at(offset: number, length: number): Buffer {
    if (!(offset >= 0) || offset >= this.size || !(length > 0)) return Buffer.alloc(0)
    const first = Math.floor(offset / PAGE)
    const end = offset + length
    if (end > (first + 1) * PAGE) return this.#read(offset, length)
    let page = this.#pages.get(first)
    if (!page) {
      page = this.#read(first * PAGE, PAGE)
      const [oldest] = this.#pages.keys()
      if (this.#pages.size >= PAGES && oldest !== undefined) this.#pages.delete(oldest)
      this.#pages.set(first, page)
    }
    return page.subarray(offset - first * PAGE, end - first * PAGE)
  }

  #read(offset: number, length: number): Buffer {
    const buffer = Buffer.alloc(Math.min(length, this.size - offset))
    return buffer.subarray(0, readSync(this.#file, buffer, 0, buffer.length, offset))
  }
}

/** A part of a file, with offsets of its own. */
export interface Block {
  at(offset: number, length: number): Buffer
  size: number
}

export const blockOf = (bytes: Block, start: number, size: number): Block => ({
  size,
  at: (offset, length) => bytes.at(start + offset, Math.min(length, size - offset)),
})

/** Bytes in memory as a block. */
export const blockOfBuffer = (buffer: Buffer): Block => ({
  size: buffer.length,
  at: (offset, length) =>
    offset >= 0 && length > 0 ? buffer.subarray(offset, offset + length) : Buffer.alloc(0),
})
