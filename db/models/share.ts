import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { MAX_EMAIL } from '../../src/limits.ts'
import { moment, uuid } from './columns.ts'

/** A file given to one e-mail address (direct) or to everyone with the link (public). Its token is derived from its id, not stored. */
export class Share extends Model<InferAttributes<Share>, InferCreationAttributes<Share>> {
  declare id: string
  declare entryId: string
  declare bucketId: string
  /** The sharer. */
  declare userId: string
  /** Lower-case e-mail address of the recipient; null for a public share. */
  declare recipient: string | null
  declare passwordHash: string | null
  declare maxDownloads: number | null
  declare downloads: number
  declare seenAt: number | null
  declare createdAt: number
  declare expiresAt: number

  static define(sequelize: Sequelize): void {
    this.init(
      {
        id: uuid({ primaryKey: true }),
        entryId: uuid({ allowNull: false }),
        bucketId: uuid({ allowNull: false }),
        userId: uuid({ allowNull: false }),
        recipient: { type: DataTypes.STRING(MAX_EMAIL), allowNull: true },
        passwordHash: { type: DataTypes.STRING(255), allowNull: true },
        maxDownloads: { type: DataTypes.BIGINT, allowNull: true },
        downloads: { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 },
        seenAt: moment({ allowNull: true }),
        createdAt: moment(),
        expiresAt: moment(),
      },
      { sequelize, tableName: 'share' },
    )
  }
}
