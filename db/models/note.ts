import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { moment, reference, uuid } from './columns.ts'

/** Belongs to (user, checksum), so that it follows the content and is shared by equal copies. */
export class Note extends Model<InferAttributes<Note>, InferCreationAttributes<Note>> {
  declare userId: string
  declare checksum: string
  declare content: string
  declare updatedAt: number

  static define(sequelize: Sequelize): void {
    this.init(
      {
        userId: uuid({ primaryKey: true, ...reference('user', 'CASCADE') }),
        checksum: { type: DataTypes.STRING(32), primaryKey: true },
        content: { type: DataTypes.TEXT, allowNull: false },
        updatedAt: moment(),
      },
      { sequelize, tableName: 'note' },
    )
  }
}
