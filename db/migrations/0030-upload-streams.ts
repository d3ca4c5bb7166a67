import type { Migration } from '../migration.ts'

/** Keeps uploads whose bytes come in order, and those of their bytes that are no whole part yet. */
export const uploadStreams: Migration = {
  name: '0030-upload-streams',

  async up({ db, transaction }) {
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    for (const model of [db.UploadStream, db.UploadPiece]) await model.sync(options)
  },
}
