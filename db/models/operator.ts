import { type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { moment, reference, uuid } from './columns.ts'

/** An account that another operator has appointed; those of the setting OPERATORS have no row. */
export class Operator extends Model<InferAttributes<Operator>, InferCreationAttributes<Operator>> {
  declare userId: string
  declare appointedBy: string
  declare appointedAt: number

  static define(sequelize: Sequelize): void {
    this.init(
      {
        userId: uuid({ primaryKey: true, ...reference('user', 'CASCADE') }),
        appointedBy: uuid({ allowNull: false }),
        appointedAt: moment(),
      },
      { sequelize, tableName: 'operator' },
    )
  }
}
