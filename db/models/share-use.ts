import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { moment, uuid } from './columns.ts'

/** One download of a share whose downloads are limited, by a signed URL that was issued for it. */
export class ShareUse extends Model<InferAttributes<ShareUse>, InferCreationAttributes<ShareUse>> {
  declare id: string
  declare leftBytes: number
  declare expiresAt: number

  static define(sequelize: Sequelize): void {
    this.init(
      {
        id: uuid({ primaryKey: true }),
        leftBytes: { type: DataTypes.BIGINT, allowNull: false },
        expiresAt: moment(),
      },
      { sequelize, tableName: 'share_use' },
    )
  }
}
