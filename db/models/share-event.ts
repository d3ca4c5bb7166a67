import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { moment, uuid } from './columns.ts'

/** What is done with a share: looked at, downloaded, tried with a wrong password. */
export const shareEventKinds = ['opened', 'downloaded', 'refused'] as const
export type ShareEventKind = (typeof shareEventKinds)[number]

/** One use of a share. Sorted by id, which is a UUID of version 7. */
export class ShareEvent extends Model<InferAttributes<ShareEvent>, InferCreationAttributes<ShareEvent>> {
  declare id: string
  declare shareId: string
  declare at: number
  declare kind: ShareEventKind
  /** Who was signed in. */
  declare personId: string | null
  /** The /24 or /48 of the client. */
  declare network: string
  /** What the client calls itself, such as "Firefox on Linux". */
  declare client: string

  static define(sequelize: Sequelize): void {
    this.init(
      {
        id: uuid({ primaryKey: true }),
        shareId: uuid({ allowNull: false }),
        at: moment(),
        kind: { type: DataTypes.STRING(16, true), allowNull: false },
        personId: uuid({ allowNull: true }),
        network: { type: DataTypes.STRING(64, true), allowNull: false },
        client: { type: DataTypes.STRING(200), allowNull: false },
      },
      { sequelize, tableName: 'share_event' },
    )
  }
}
