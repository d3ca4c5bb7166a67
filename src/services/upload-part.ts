import { InvalidInput } from '../errors.ts'
import { type Block, fillBlocks } from '../storage/blocks.ts'
import type { Upload } from '../upload.ts'

/** How an upload is cut: into parts of `partSize` bytes, the last of which has the rest. */
interface Cut {
  size: number
  partSize: number
}

/** How many parts there are; an empty file has one, which is empty. */
export const partCountOf = ({ size, partSize }: Cut): number => Math.max(1, Math.ceil(size / partSize))

/** Bytes of part `number`, from 1 on. */
export const sizeOfPart = ({ size, partSize }: Cut, number: number): number =>
  Math.min(partSize, size - (number - 1) * partSize)

/** Reads a part of exactly `size` bytes; whoever gets it releases it. @throws INVALID_INPUT */
export async function readPart({ source, bound, signal }: Upload, number: number, size: number): Promise<Block> {
  const wrong = (brought: string) =>
    new InvalidInput('part', `Part ${number} has exactly ${size} bytes. This request brings ${brought}.`)
  if (bound !== undefined && bound !== size) throw wrong(String(bound))
  for await (const block of fillBlocks(source, signal ?? new AbortController().signal)) {
    if (block.last && block.bytes.length === size) return block
    block.release()
    throw wrong(block.last ? String(block.bytes.length) : 'more')
  }
  throw wrong('none')
}

/** A Content-MD5 in hex. @throws INVALID_INPUT */
export function sumOf(contentMd5: string | null | undefined): string | undefined {
  if (!contentMd5) return undefined
  if (!/^[A-Za-z0-9+/]{22}==$/.test(contentMd5))
    throw new InvalidInput('content_md5', 'Content-MD5 is the MD5 of the part in base64: 24 characters (RFC 1864).')
  return Buffer.from(contentMd5, 'base64').toString('hex')
}
