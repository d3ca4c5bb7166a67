import { addColumn, type Migration } from '../migration.ts'

/** Adds the stamps of folders and of whole trees that grow with each change below them. */
export const changeStamps: Migration = {
  name: '0050-change-stamps',

  async up(context) {
    await addColumn(context, 'entry', 'change_stamp', 'BIGINT NOT NULL DEFAULT 0')
    await addColumn(context, 'bucket', 'change_stamp', 'BIGINT NOT NULL DEFAULT 0')
  },
}
