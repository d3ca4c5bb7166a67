import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { uuid } from './columns.ts'

/** How far the events of a log were purged. A log of which nothing was purged has no row. */
export class EventLog extends Model<InferAttributes<EventLog>, InferCreationAttributes<EventLog>> {
  declare logId: string
  declare purgedSeq: number

  static define(sequelize: Sequelize): void {
    this.init(
      {
        logId: uuid({ primaryKey: true }),
        purgedSeq: { type: DataTypes.BIGINT, allowNull: false },
      },
      { sequelize, tableName: 'event_log' },
    )
  }
}
