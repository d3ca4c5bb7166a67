import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize'
import { MAX_EMAIL } from '../../src/limits.ts'
import { moment, uuid } from './columns.ts'

/**
 * One storage area, of a user or of a workspace. Its row is the lock of its whole tree: every change of the tree locks it first.
 * Usage and reservation are in this one row, so that one conditional UPDATE checks and reserves quota: with the usage in
 * another row, the statement would compare with a snapshot older than the lock that it waited for.
 */
export class Bucket extends Model<InferAttributes<Bucket>, InferCreationAttributes<Bucket>> {
  declare id: string
  declare userId: string | null
  declare workspaceId: string | null
  declare rootId: string
  declare usedBytes: number
  declare usedFiles: number
  declare usedFolders: number
  /** Bytes reserved by running uploads. */
  declare reservedBytes: number
  declare reservedFiles: number
  /** An upper bound of the live public links: expired ones are counted until the limit is next reached. */
  declare linkCount: number
  declare noteCount: number
  /** Deleted folders whose content is still being purged. While this and `trashCount` are 0, every entry of the bucket is below its root. */
  declare purging: number
  /** Deleted files and folders that can be restored. */
  declare trashCount: number
  /** Bytes of what is kept beyond the usage, in the trash and as versions. */
  declare keptBytes: number
  /** For the kept data of a deleted account: the verified e-mail address of its owner, and until when it is kept. */
  declare keptFor: string | null
  declare keptUntil: number | null
  /** The providers with which its owner signed in, separated by spaces. */
  declare keptProviders: CreationOptional<string | null>
  declare createdAt: number

  static define(sequelize: Sequelize): void {
    // A function, because Sequelize mutates the objects that it receives.
    const counter = () => ({ type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 })
    this.init(
      {
        id: uuid({ primaryKey: true }),
        userId: uuid({ allowNull: true }),
        workspaceId: uuid({ allowNull: true }),
        rootId: uuid({ allowNull: false }),
        usedBytes: counter(),
        usedFiles: counter(),
        usedFolders: counter(),
        reservedBytes: counter(),
        reservedFiles: counter(),
        linkCount: counter(),
        noteCount: counter(),
        purging: counter(),
        trashCount: counter(),
        keptBytes: counter(),
        keptFor: { type: DataTypes.STRING(MAX_EMAIL), allowNull: true },
        keptUntil: moment({ allowNull: true }),
        keptProviders: { type: DataTypes.TEXT, allowNull: true },
        createdAt: moment(),
      },
      { sequelize, tableName: 'bucket' },
    )
  }
}
