import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { moment, uuid } from './columns.ts'

/**
 * A deleted file or folder that can be restored: its entry has no parent any more, and what is in it is as it was.
 * Ids are ordered by the time of the deletion.
 */
export class TrashItem extends Model<InferAttributes<TrashItem>, InferCreationAttributes<TrashItem>> {
  declare id: string
  declare bucketId: string
  declare entryId: string
  /** The folder that it was in, which may be gone as well. */
  declare parentId: string
  /** Where it was: the names from the root down, its own last, joined by slashes. */
  declare path: string
  /** The totals of its subtree at the deletion, itself included. */
  declare bytes: number
  declare files: number
  declare folders: number
  declare deletedBy: string | null
  declare deletedAt: number

  static define(sequelize: Sequelize): void {
    // A function, because Sequelize mutates the objects that it receives.
    const total = () => ({ type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 })
    this.init(
      {
        id: uuid({ primaryKey: true }),
        bucketId: uuid({ allowNull: false }),
        entryId: uuid({ allowNull: false }),
        parentId: uuid({ allowNull: false }),
        path: { type: DataTypes.TEXT, allowNull: false },
        bytes: total(),
        files: total(),
        folders: total(),
        deletedBy: uuid({ allowNull: true }),
        deletedAt: moment(),
      },
      { sequelize, tableName: 'trash_item' },
    )
  }
}
