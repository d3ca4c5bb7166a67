import { Readable } from 'node:stream'
import type { BlobStore } from '../src/storage/azure.ts'

/** Leaves a part in a store whose bytes are all there. */
export const stagePart = (
  store: BlobStore,
  key: string,
  number: number,
  bytes: Buffer,
  { sum }: { sum?: string } = {},
): Promise<void> => store.stagePart(key, number, Readable.from(bytes), { size: bytes.length, sum })
