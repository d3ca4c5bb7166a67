import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize'
import { moment, uuid } from './columns.ts'

/** Folders sort before files in every listing. */
export const FOLDER = 0
export const FILE = 1

/**
 * A file or a folder. Paths are never stored: the path of an entry is its chain of parents.
 * A folder carries the totals of its whole subtree (without itself), a file its own, so that moving and deleting cost O(depth).
 */
export class Entry extends Model<InferAttributes<Entry>, InferCreationAttributes<Entry>> {
  declare id: string
  declare bucketId: string
  /** Null for a root, and for a deleted folder that is not purged yet. */
  declare parentId: string | null
  declare kind: typeof FOLDER | typeof FILE
  declare name: string
  declare blobId: string | null
  declare fileType: string
  declare md5: string
  declare totalBytes: number
  declare totalFiles: number
  declare totalFolders: number
  /** Upper bounds for the subtree of a folder: its levels, and the bytes of its longest relative path. Deletions do not lower them. */
  declare levelsBelow: number
  declare bytesBelow: number
  declare createdBy: string | null
  declare createdAt: number
  declare updatedAt: number
  /** Who made the present content, and when; null where it is the one with which the file was made. */
  declare contentBy: CreationOptional<string | null>
  declare contentAt: CreationOptional<number | null>
  /** Grows with each change of its content, its name or its place. */
  declare revision: CreationOptional<number>

  static define(sequelize: Sequelize): void {
    // Functions, because Sequelize mutates the objects that it receives.
    const total = () => ({ type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 })
    const bound = () => ({ type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 })
    this.init(
      {
        id: uuid({ primaryKey: true }),
        bucketId: uuid({ allowNull: false }),
        parentId: uuid({ allowNull: true }),
        kind: { type: DataTypes.TINYINT, allowNull: false },
        name: { type: DataTypes.STRING(255), allowNull: false },
        blobId: uuid({ allowNull: true }),
        fileType: { type: DataTypes.STRING(127), allowNull: false, defaultValue: '' },
        md5: { type: DataTypes.STRING(32), allowNull: false, defaultValue: '' },
        totalBytes: total(),
        totalFiles: total(),
        totalFolders: total(),
        levelsBelow: bound(),
        bytesBelow: bound(),
        createdBy: uuid({ allowNull: true }),
        createdAt: moment(),
        updatedAt: moment(),
        contentBy: uuid({ allowNull: true }),
        contentAt: moment({ allowNull: true }),
        revision: { type: DataTypes.BIGINT, allowNull: false, defaultValue: 1 },
      },
      { sequelize, tableName: 'entry' },
    )
  }
}
