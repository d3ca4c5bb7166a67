import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { moment, uuid } from './columns.ts'

/** Belongs to (storage area, checksum): it follows the content, is shared by equal copies, and is kept with the data of a deleted account. */
export class Note extends Model<InferAttributes<Note>, InferCreationAttributes<Note>> {
  declare bucketId: string
  declare checksum: string
  declare content: string
  declare updatedAt: number

  static define(sequelize: Sequelize): void {
    this.init(
      {
        bucketId: uuid({ primaryKey: true }),
        checksum: { type: DataTypes.STRING(32), primaryKey: true },
        content: { type: DataTypes.TEXT, allowNull: false },
        updatedAt: moment(),
      },
      { sequelize, tableName: 'note' },
    )
  }
}
