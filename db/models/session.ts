import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { digest, moment, reference, uuid } from './columns.ts'

/** Found by the hash of its cookie; named outside by its id. */
export class Session extends Model<InferAttributes<Session>, InferCreationAttributes<Session>> {
  declare hash: string
  declare id: string
  declare userId: string
  declare createdAt: number
  declare expiresAt: number
  /** Written every few minutes at most. */
  declare lastUsedAt: number
  /** What began it, in words: "Firefox on Linux". */
  declare device: string
  /** The network from which it was begun, never the whole address. */
  declare address: string

  static define(sequelize: Sequelize): void {
    this.init(
      {
        hash: digest({ primaryKey: true }),
        id: uuid({ allowNull: false }),
        userId: uuid({ allowNull: false, ...reference('user', 'CASCADE') }),
        createdAt: moment(),
        expiresAt: moment(),
        lastUsedAt: moment(),
        device: { type: DataTypes.STRING(200), allowNull: false },
        address: { type: DataTypes.STRING(64), allowNull: false },
      },
      { sequelize, tableName: 'session' },
    )
  }
}
