import { Readable } from 'node:stream'
import type { BlobStore } from '../../src/storage/store.ts'

/** Stores a part whose bytes are complete. */
export const stagePart = (
  store: BlobStore,
  key: string,
  number: number,
  bytes: Buffer,
  { md5, offset = (number - 1) * bytes.length }: { md5?: string; offset?: number } = {},
): Promise<string> =>
  store.stagePart(key, number, Readable.from(bytes), { size: bytes.length, offset, md5 })
