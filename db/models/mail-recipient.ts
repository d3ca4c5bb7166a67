import { type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { digest, moment, uuid } from './columns.ts'

/** An e-mail address that mails were sent to, stored only as a keyed hash. Its row is the lock for counting its mails. */
export class MailRecipient extends Model<InferAttributes<MailRecipient>, InferCreationAttributes<MailRecipient>> {
  /** The unsubscribe link is derived from it. */
  declare id: string
  declare addressHash: string
  /** When the recipient unsubscribed from mails that users cause; null when subscribed. */
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
