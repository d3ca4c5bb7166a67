import type { Migration } from '../migrate.ts'

const before = ['state', 'lease_until']
const after = [...before, 'size']

/** How many bytes the store is still to delete is summed in the index: there may be a million such blobs, and SQLite reads in the thread that serves. */
export const blobSizes: Migration = {
  name: '0025-blob-sizes',

  async up({ index, dropIndex }) {
    await index('blobs', after)
    await dropIndex('blobs', before)
  },

  async down({ index, dropIndex }) {
    await index('blobs', before)
    await dropIndex('blobs', after)
  },
}
