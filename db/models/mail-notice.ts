import { type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { digest, moment, uuid } from './columns.ts'

/** A mail that a user caused, kept for a day, because the limits of mails count it. */
export class MailNotice extends Model<InferAttributes<MailNotice>, InferCreationAttributes<MailNotice>> {
  declare id: string
  declare recipientId: string
  declare senderId: string
  /** A hash of its subjects, to recognize a repetition. */
  declare about: string
  declare sentAt: number

  static define(sequelize: Sequelize): void {
    this.init(
      {
        id: uuid({ primaryKey: true }),
        recipientId: uuid({ allowNull: false }),
        senderId: uuid({ allowNull: false }),
        about: digest({ allowNull: false }),
        sentAt: moment(),
      },
      { sequelize, tableName: 'mail_notice' },
    )
  }
}
