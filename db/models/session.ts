import { type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { digest, moment, reference, uuid } from './columns.ts'

/** Known by the hash of its cookie only. */
export class Session extends Model<InferAttributes<Session>, InferCreationAttributes<Session>> {
  declare hash: string
  declare userId: string
  declare createdAt: number
  declare expiresAt: number

  static define(sequelize: Sequelize): void {
    this.init(
      {
        hash: digest({ primaryKey: true }),
        userId: uuid({ allowNull: false, ...reference('user', 'CASCADE') }),
        createdAt: moment(),
        expiresAt: moment(),
      },
      { sequelize, tableName: 'session' },
    )
  }
}
