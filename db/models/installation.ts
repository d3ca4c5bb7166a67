import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { uuid } from './columns.ts'

/** Which installation this database is of: the folder of its blobs says the same. One row. */
export class Installation extends Model<InferAttributes<Installation>, InferCreationAttributes<Installation>> {
  /** Always 1, so that of two first instances one comes second. */
  declare slot: number
  declare id: string

  static define(sequelize: Sequelize): void {
    this.init(
      { slot: { type: DataTypes.INTEGER, primaryKey: true }, id: uuid({ allowNull: false }) },
      { sequelize, tableName: 'installation' },
    )
  }
}
