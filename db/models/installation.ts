import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { uuid } from './columns.ts'

/** The id of the installation, which the folder of its blobs stores, too. One row. */
export class Installation extends Model<InferAttributes<Installation>, InferCreationAttributes<Installation>> {
  /** Always 1, so that only one of two parallel first instances inserts the row. */
  declare slot: number
  declare id: string

  static define(sequelize: Sequelize): void {
    this.init(
      { slot: { type: DataTypes.INTEGER, primaryKey: true }, id: uuid({ allowNull: false }) },
      { sequelize, tableName: 'installation' },
    )
  }
}
