import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { MAX_EMAIL } from '../../src/limits.ts'
import { moment, reference, uuid } from './columns.ts'

export class User extends Model<InferAttributes<User>, InferCreationAttributes<User>> {
  declare id: string
  /** As the provider wrote it. */
  declare email: string
  /** Lower-case, and set only when a provider has verified it; shares and invites are sent to it. At most one account has it. */
  declare verifiedEmail: string | null
  declare name: string
  declare givenName: string
  declare familyName: string
  declare picture: string
  declare locale: string
  declare planId: string
  declare status: 'active' | 'suspended'
  declare createdAt: number
  /** Whether the user receives a mail about a sign-in from a new device. */
  declare signInNotices: boolean

  static define(sequelize: Sequelize): void {
    this.init(
      {
        id: uuid({ primaryKey: true }),
        email: { type: DataTypes.STRING(MAX_EMAIL), allowNull: false },
        verifiedEmail: { type: DataTypes.STRING(MAX_EMAIL), allowNull: true },
        name: { type: DataTypes.STRING(255), allowNull: false },
        givenName: { type: DataTypes.STRING(255), allowNull: false },
        familyName: { type: DataTypes.STRING(255), allowNull: false },
        picture: { type: DataTypes.STRING(2048), allowNull: false },
        locale: { type: DataTypes.STRING(35), allowNull: false },
        planId: { type: DataTypes.STRING(32), allowNull: false, ...reference('plan') },
        status: { type: DataTypes.STRING(16), allowNull: false },
        createdAt: moment(),
        signInNotices: { type: DataTypes.BOOLEAN, allowNull: false },
      },
      { sequelize, tableName: 'user' },
    )
  }
}
