import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { digest, moment, reference, uuid } from './columns.ts'

/** A key of a user (private) or of a workspace. Found by the hash of its secret, which is all that is stored of it. */
export class ApiKey extends Model<InferAttributes<ApiKey>, InferCreationAttributes<ApiKey>> {
  declare id: string
  declare hash: string
  /** The end of the secret, to tell keys apart. */
  declare hint: string
  declare name: string
  declare description: string
  /** Separated by spaces. */
  declare scopes: string
  /** Null for a private key. */
  declare workspaceId: string | null
  /** Whose right bounds that of the key; the owner of a private one. */
  declare createdBy: string
  declare createdAt: number
  declare lastUsedAt: number | null
  declare expiresAt: number | null

  static define(sequelize: Sequelize): void {
    this.init(
      {
        id: uuid({ primaryKey: true }),
        hash: digest({}),
        hint: { type: DataTypes.STRING(8), allowNull: false },
        name: { type: DataTypes.STRING(100), allowNull: false },
        description: { type: DataTypes.STRING(1000), allowNull: false, defaultValue: '' },
        scopes: { type: DataTypes.STRING(1000), allowNull: false },
        workspaceId: uuid({ allowNull: true, ...reference('workspace', 'CASCADE') }),
        createdBy: uuid({ allowNull: false, ...reference('user', 'CASCADE') }),
        createdAt: moment(),
        lastUsedAt: moment({ allowNull: true }),
        expiresAt: moment({ allowNull: true }),
      },
      { sequelize, tableName: 'api_key' },
    )
  }
}
