import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { moment, reference, uuid } from './columns.ts'

/** Disabled ones have failed for too long. */
export const webhookStates = ['active', 'paused', 'disabled'] as const
export type WebhookState = (typeof webhookStates)[number]

/** A URL that the events of one log are sent to, for as long as its user may read them. Its secret is derived from its id and a number. */
export class Webhook extends Model<InferAttributes<Webhook>, InferCreationAttributes<Webhook>> {
  declare id: string
  declare logId: string
  /** Whose right it is: who made it, or has changed it last. */
  declare userId: string
  /** Null for one of a person. */
  declare workspaceId: string | null
  declare url: string
  /** Separated by spaces; empty for all. */
  declare kinds: string
  declare state: WebhookState
  /** The number of the last event that was delivered, or is not for it. */
  declare seq: number
  /** How often the event after that has failed. */
  declare attempts: number
  declare failingSince: number | null
  /** When it is tried again. */
  declare dueAt: number
  /** Until when one instance alone delivers to it. */
  declare leaseUntil: number
  /** How often its secret was replaced. */
  declare secretNumber: number
  /** Until when events are signed with the secret before, too. */
  declare oldSecretEndsAt: number | null
  declare createdAt: number

  static define(sequelize: Sequelize): void {
    this.init(
      {
        id: uuid({ primaryKey: true }),
        logId: uuid({ allowNull: false }),
        userId: uuid({ allowNull: false, ...reference('user', 'CASCADE') }),
        workspaceId: uuid({ allowNull: true, ...reference('workspace', 'CASCADE') }),
        url: { type: DataTypes.TEXT, allowNull: false },
        kinds: { type: DataTypes.TEXT, allowNull: false },
        state: { type: DataTypes.STRING(8, true), allowNull: false },
        seq: { type: DataTypes.BIGINT, allowNull: false },
        attempts: { type: DataTypes.INTEGER, allowNull: false },
        failingSince: moment({ allowNull: true }),
        dueAt: moment(),
        leaseUntil: moment(),
        secretNumber: { type: DataTypes.INTEGER, allowNull: false },
        oldSecretEndsAt: moment({ allowNull: true }),
        createdAt: moment(),
      },
      { sequelize, tableName: 'webhook' },
    )
  }
}
