import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { moment, reference, uuid } from './columns.ts'

/** An attempt to deliver an event. Nothing of what was sent or answered is kept. */
export class WebhookDelivery extends Model<InferAttributes<WebhookDelivery>, InferCreationAttributes<WebhookDelivery>> {
  declare id: string
  declare webhookId: string
  declare eventId: string
  declare kind: string
  declare at: number
  /** 1 for the first. */
  declare attempt: number
  /** Null where nothing was answered. */
  declare status: number | null
  /** Null for a success. */
  declare failure: string | null
  declare milliseconds: number

  static define(sequelize: Sequelize): void {
    this.init(
      {
        id: uuid({ primaryKey: true }),
        webhookId: uuid({ allowNull: false, ...reference('webhook', 'CASCADE') }),
        eventId: { type: DataTypes.STRING(80, true), allowNull: false },
        kind: { type: DataTypes.STRING(32, true), allowNull: false },
        at: moment(),
        attempt: { type: DataTypes.INTEGER, allowNull: false },
        status: { type: DataTypes.INTEGER, allowNull: true },
        failure: { type: DataTypes.STRING(64, true), allowNull: true },
        milliseconds: { type: DataTypes.INTEGER, allowNull: false },
      },
      { sequelize, tableName: 'webhook_delivery' },
    )
  }
}
