import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { moment, uuid } from './columns.ts'

/**
 * An upload in parts that is under way. Its id is that of a staged blob, which holds the reservation and whose lease is the session's life;
 * which parts have arrived is known by the store alone.
 */
export class UploadSession extends Model<InferAttributes<UploadSession>, InferCreationAttributes<UploadSession>> {
  declare id: string
  declare bucketId: string
  /** Its maker. */
  declare userId: string
  /** Where the file is to be. */
  declare path: string
  declare fileType: string
  /** Bytes of the whole, as declared. */
  declare size: number
  /** Bytes of every part but the last. */
  declare partSize: number
  /** Whether the parts go to signed addresses. */
  declare direct: boolean
  /** Until when clients can write to the store past the service; 0 if they never can. */
  declare writableUntil: number
  /** The request that is completing it, and until when that is known to live. */
  declare claim: string | null
  declare claimUntil: number
  declare createdAt: number

  static define(sequelize: Sequelize): void {
    // A function, because Sequelize writes into the objects it is given.
    const bytes = () => ({ type: DataTypes.BIGINT, allowNull: false })
    this.init(
      {
        id: uuid({ primaryKey: true }),
        bucketId: uuid({ allowNull: false }),
        userId: uuid({ allowNull: false }),
        path: { type: DataTypes.STRING(1024), allowNull: false },
        fileType: { type: DataTypes.STRING(127), allowNull: false },
        size: bytes(),
        partSize: bytes(),
        direct: { type: DataTypes.BOOLEAN, allowNull: false },
        writableUntil: moment(),
        claim: uuid({ allowNull: true }),
        claimUntil: moment(),
        createdAt: moment(),
      },
      { sequelize, tableName: 'upload_session' },
    )
  }
}
