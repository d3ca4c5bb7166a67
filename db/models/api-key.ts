import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { MAX_KEY_DESCRIPTION, MAX_KEY_NAME } from '../../src/limits.ts'
import { digest, moment, reference, uuid } from './columns.ts'

/** A key of a user (private) or of a workspace. Looked up by the hash of its secret; the secret itself is not stored. */
export class ApiKey extends Model<InferAttributes<ApiKey>, InferCreationAttributes<ApiKey>> {
  declare id: string
  declare hash: string
  /** The last characters of the secret, to tell keys apart. */
  declare hint: string
  declare name: string
  declare description: string
  /** Separated by spaces. */
  declare scopes: string
  /** Null for a private key. */
  declare workspaceId: string | null
  /** The user whose rights limit those of the key; the owner of a private key. */
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
        name: { type: DataTypes.STRING(MAX_KEY_NAME), allowNull: false },
        description: { type: DataTypes.STRING(MAX_KEY_DESCRIPTION), allowNull: false, defaultValue: '' },
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
