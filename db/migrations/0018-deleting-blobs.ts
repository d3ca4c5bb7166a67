import type { Migration } from '../migrate.ts'

/** A blob marked for deletion has the state "deleting". */
export const deletingBlobs: Migration = {
  name: '0018-deleting-blobs',

  async up({ run }) {
    await run("UPDATE blobs SET state = 'deleting' WHERE state = 'doomed'")
  },

  async down({ run }) {
    await run("UPDATE blobs SET state = 'doomed' WHERE state = 'deleting'")
  },
}
