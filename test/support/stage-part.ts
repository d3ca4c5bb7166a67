import { Readable } from 'node:stream'
import type { BlobStore } from '../../src/storage/store.ts'

/** Leaves a part in a store whose bytes are all there. */
export const stagePart = (
  store: BlobStore,
  key: string,
  number: number,
  bytes: Buffer,
  { md5, offset = (number - 1) * bytes.length }: { md5?: string; offset?: number } = {},
): Promise<string> =>
  store.stagePart(key, number, Readable.from(bytes), { size: bytes.length, offset, md5 })
