import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { digest, moment, reference, uuid } from './columns.ts'

/** Looked up by the hash of its cookie; the API refers to it by its id. */
export class Session extends Model<InferAttributes<Session>, InferCreationAttributes<Session>> {
  declare hash: string
  declare id: string
  declare userId: string
  declare createdAt: number
  declare expiresAt: number
  /** Updated every few minutes at most. */
  declare lastUsedAt: number
  /** Display name of the device, such as "Firefox on Linux". */
  declare device: string
  /** The network of the client at sign-in, never its full IP address. */
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
