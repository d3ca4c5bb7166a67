import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { MAX_SLUG, MAX_WORKSPACE_NAME } from '../../src/limits.ts'
import { moment, uuid } from './columns.ts'

export class Workspace extends Model<InferAttributes<Workspace>, InferCreationAttributes<Workspace>> {
  declare id: string
  declare name: string
  declare slug: string
  /** The owner whose plan limits the workspace: one of its members in the role owner. */
  declare ownerId: string
  declare createdAt: number

  static define(sequelize: Sequelize): void {
    this.init(
      {
        id: uuid({ primaryKey: true }),
        name: { type: DataTypes.STRING(MAX_WORKSPACE_NAME), allowNull: false },
        slug: { type: DataTypes.STRING(MAX_SLUG), allowNull: false },
        ownerId: uuid({ allowNull: false }),
        createdAt: moment(),
      },
      { sequelize, tableName: 'workspace' },
    )
  }
}
