import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import type { Role } from '../../src/access/roles.ts'
import { MAX_EMAIL } from '../../src/limits.ts'
import { moment, reference, uuid } from './columns.ts'

/** An offer of a role to one e-mail address. Its token is derived from its id, not stored; accepting it deletes the row. */
export class Invite extends Model<InferAttributes<Invite>, InferCreationAttributes<Invite>> {
  declare id: string
  declare workspaceId: string
  /** In the form in which e-mail addresses are compared. */
  declare email: string
  declare role: Role
  declare invitedBy: string
  declare createdAt: number
  declare expiresAt: number

  static define(sequelize: Sequelize): void {
    this.init(
      {
        id: uuid({ primaryKey: true }),
        workspaceId: uuid({ allowNull: false, ...reference('workspace', 'CASCADE') }),
        email: { type: DataTypes.STRING(MAX_EMAIL), allowNull: false },
        role: { type: DataTypes.STRING(8), allowNull: false },
        invitedBy: uuid({ allowNull: false }),
        createdAt: moment(),
        expiresAt: moment(),
      },
      { sequelize, tableName: 'invite' },
    )
  }
}
