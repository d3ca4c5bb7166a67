import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize'
import { moment, uuid } from './columns.ts'

/**
 * One storage area, of a user or of a workspace. Its row is the lock of its whole tree: whoever changes the tree locks it first.
 * Usage and reservation stand in this one row, so that a quota is checked and taken by one conditional UPDATE: with the usage in
 * another row, the statement would compare with a snapshot older than the lock it waited for.
 */
export class Bucket extends Model<InferAttributes<Bucket>, InferCreationAttributes<Bucket>> {
  declare id: string
  declare userId: string | null
  declare workspaceId: string | null
  declare rootId: string
  declare usedBytes: number
  declare usedFiles: number
  declare usedFolders: number
  /** What running uploads may still need. */
  declare reservedBytes: number
  declare reservedFiles: number
  /** At least as many as it has live public links: those that have ended are counted until the next time that a limit is met. */
  declare linkCount: number
  declare noteCount: number
  /** Deleted folders whose content is still being purged; while it is 0, every entry of the bucket hangs below its root. */
  declare purging: number
  /** The kept data of a deleted account: the verified address it waits for, and until when. */
  declare keptFor: string | null
  declare keptUntil: number | null
  /** The providers by which its owner signed in, with spaces between them. */
  declare keptProviders: CreationOptional<string | null>
  declare createdAt: number

  static define(sequelize: Sequelize): void {
    // A function, because Sequelize writes into the objects it is given.
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
        keptFor: { type: DataTypes.STRING(320), allowNull: true },
        keptUntil: moment({ allowNull: true }),
        keptProviders: { type: DataTypes.TEXT, allowNull: true },
        createdAt: moment(),
      },
      { sequelize, tableName: 'bucket' },
    )
  }
}
