import { type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { digest, moment, uuid } from './columns.ts'

/** An address that mails were sent to: known by a keyed hash only. Its row is the lock of what is counted for it. */
export class MailRecipient extends Model<InferAttributes<MailRecipient>, InferCreationAttributes<MailRecipient>> {
  /** What the link to stop the mails is derived from. */
  declare id: string
  declare addressHash: string
  /** Since when the address wants no more mails that people cause; null when it takes them. */
  declare stoppedAt: number | null
  declare createdAt: number

  static define(sequelize: Sequelize): void {
    this.init(
      {
        id: uuid({ primaryKey: true }),
        addressHash: digest({ allowNull: false }),
        stoppedAt: moment({ allowNull: true }),
        createdAt: moment(),
      },
      { sequelize, tableName: 'mail_recipient' },
    )
  }
}
