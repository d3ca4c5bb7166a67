import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import type { Role } from '../../src/access/roles.ts'
import { moment, reference, uuid } from './columns.ts'

/** A user in a workspace. */
export class Member extends Model<InferAttributes<Member>, InferCreationAttributes<Member>> {
  declare workspaceId: string
  declare userId: string
  declare role: Role
  declare joinedAt: number

  static define(sequelize: Sequelize): void {
    this.init(
      {
        workspaceId: uuid({ primaryKey: true, ...reference('workspace', 'CASCADE') }),
        userId: uuid({ primaryKey: true, ...reference('user', 'CASCADE') }),
        role: { type: DataTypes.STRING(8), allowNull: false },
        joinedAt: moment(),
      },
      { sequelize, tableName: 'member' },
    )
  }
}
