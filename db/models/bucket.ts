import { MAX_EMAIL } from '../../src/values/limits.ts'
import {
  counter,
  longText,
  moment,
  number,
  type Row,
  table,
  text,
  touched,
  uuid,
} from './columns.ts'

/**
 * One storage area, of a user or of a workspace. Its row is the lock of its whole tree: every
 * change of the tree locks it first. Usage and reservation are in this one row, so that one
 * conditional UPDATE checks and reserves quota: with the usage in another row, the statement would
 * compare with a snapshot older than the lock that it waited for.
 */
export const Bucket = table({
  tableName: 'bucket',
  columns: {
    id: uuid.key(),
    userId: uuid.nullable(),
    workspaceId: uuid.nullable(),
    rootId: uuid,
    usedBytes: counter,
    usedFiles: counter,
    usedFolders: counter,
    /** Bytes reserved by running uploads. */
    reservedBytes: counter,
    reservedFiles: counter,
    /**
     * An upper bound of the live public links: expired ones are counted until the limit is next
     * reached.
     */
    linkCount: counter,
    noteCount: counter,
    /**
     * Deleted folders whose content is still being purged. While this and `trashCount` are 0, every
     * entry of the bucket is below its root.
     */
    purging: counter,
    /** Deleted files and folders that can be restored. */
    trashCount: counter,
    /** Bytes kept in the trash and as versions, in addition to the usage. */
    keptBytes: counter,
    /**
     * For the kept data of a deleted account: the verified e-mail address of its owner, and until
     * when it is kept.
     */
    keptFor: text(MAX_EMAIL).nullable(),
    keptUntil: moment.nullable(),
    /** The providers with which its owner signed in, separated by spaces. */
    keptProviders: longText.nullable(),
    /** Grows with each change of anything in the tree: the stamp of its root. */
    changeStamp: number.default(0),
    touched,
    createdAt: moment,
  },
  unique: [['userId'], ['workspaceId']],
  indexes: [['keptFor'], ['keptUntil'], ['keptBytes']],
})

export type Bucket = Row<typeof Bucket>
