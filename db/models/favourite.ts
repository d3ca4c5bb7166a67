import { integer, moment, type Row, table, uuid } from './columns.ts'

/**
 * A file or folder of any drive that a person has marked, or a share that they have received.
 * Access is checked when it is read.
 */
export const Favourite = table({
  tableName: 'favourite',
  columns: {
    id: uuid.key(),
    userId: uuid.ownedBy('user'),
    entryId: uuid.nullable().ownedBy('entry'),
    shareId: uuid.nullable().ownedBy('share'),
    /** The order that the person gave them. */
    position: integer,
    createdAt: moment,
  },
  unique: [
    ['userId', 'entryId'],
    ['userId', 'shareId'],
  ],
  indexes: [['entryId'], ['shareId']],
})

export type Favourite = Row<typeof Favourite>
