import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { moment, uuid } from './columns.ts'

/** A row of the outbox: a job that is enqueued in the transaction of the change that causes it, and run outside of it. */
export class Job extends Model<InferAttributes<Job>, InferCreationAttributes<Job>> {
  declare id: string
  declare kind: string
  /** JSON as text: MariaDB returns JSON columns as text anyway. */
  declare payload: string
  declare attempts: number
  /** When it may be claimed next; claiming moves this ahead, so that the job of a worker that dies is claimed again. */
  declare dueAt: number
  declare lastError: string
  declare createdAt: number

  static define(sequelize: Sequelize): void {
    this.init(
      {
        id: uuid({ primaryKey: true }),
        kind: { type: DataTypes.STRING(32), allowNull: false },
        payload: { type: DataTypes.TEXT, allowNull: false },
        attempts: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
        dueAt: moment(),
        lastError: { type: DataTypes.STRING(500), allowNull: false, defaultValue: '' },
        createdAt: moment(),
      },
      { sequelize, tableName: 'outbox' },
    )
  }
}
