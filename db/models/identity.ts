import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { MAX_EMAIL } from '../../src/limits.ts'
import { moment, reference, uuid } from './columns.ts'

/** A way to sign in: one user of one provider. */
export class Identity extends Model<InferAttributes<Identity>, InferCreationAttributes<Identity>> {
  declare id: string
  declare userId: string
  declare provider: string
  declare providerUserId: string
  declare email: string
  declare emailVerified: boolean
  declare name: string
  declare avatarUrl: string
  declare createdAt: number

  static define(sequelize: Sequelize): void {
    this.init(
      {
        id: uuid({ primaryKey: true }),
        userId: uuid({ allowNull: false, ...reference('user', 'CASCADE') }),
        provider: { type: DataTypes.STRING(64), allowNull: false },
        providerUserId: { type: DataTypes.STRING(255), allowNull: false },
        email: { type: DataTypes.STRING(MAX_EMAIL), allowNull: false },
        emailVerified: { type: DataTypes.BOOLEAN, allowNull: false },
        name: { type: DataTypes.STRING(255), allowNull: false },
        avatarUrl: { type: DataTypes.STRING(2048), allowNull: false },
        createdAt: moment(),
      },
      { sequelize, tableName: 'identity' },
    )
  }
}
