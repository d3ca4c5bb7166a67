import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { moment, uuid } from './columns.ts'

/** A content that a file had before another one replaced it. Ids are ordered by the time of the replacement. */
export class Version extends Model<InferAttributes<Version>, InferCreationAttributes<Version>> {
  declare id: string
  declare bucketId: string
  /** The file, which may be in the trash. */
  declare entryId: string
  declare blobId: string
  declare fileType: string
  declare md5: string
  declare bytes: number
  /** Who made this content, and when. */
  declare createdBy: string | null
  declare createdAt: number
  declare replacedAt: number

  static define(sequelize: Sequelize): void {
    this.init(
      {
        id: uuid({ primaryKey: true }),
        bucketId: uuid({ allowNull: false }),
        entryId: uuid({ allowNull: false }),
        blobId: uuid({ allowNull: false }),
        fileType: { type: DataTypes.STRING(127), allowNull: false },
        md5: { type: DataTypes.STRING(32), allowNull: false },
        bytes: { type: DataTypes.BIGINT, allowNull: false },
        createdBy: uuid({ allowNull: true }),
        createdAt: moment(),
        replacedAt: moment(),
      },
      { sequelize, tableName: 'version' },
    )
  }
}
