import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize'
import type { OnConflict } from '../../src/on-conflict.ts'
import { moment, uuid } from './columns.ts'

/**
 * An unfinished upload in parts. Its id is that of a staged blob, which holds the reservation and whose lease is the session's lifetime;
 * only the store records which parts have arrived.
 */
export class UploadSession extends Model<InferAttributes<UploadSession>, InferCreationAttributes<UploadSession>> {
  declare id: string
  declare bucketId: string
  /** The user who started it. */
  declare userId: string
  /** Path of the future file. */
  declare path: string
  declare fileType: string
  /** Bytes of the whole, as declared. */
  declare size: number
  /** Bytes of every part but the last. */
  declare partSize: number
  /** Whether clients send the parts to signed URLs. */
  declare direct: boolean
  /** Until when clients can write directly to the store; 0 if they never can. */
  declare writableUntil: number
  /** The token of the request that is completing it, and until when its claim lasts. */
  declare claim: string | null
  declare claimUntil: number
  /** What to do when something of this name is there at the end. */
  declare onConflict: CreationOptional<OnConflict>
  declare createdAt: number

  static define(sequelize: Sequelize): void {
    // A function, because Sequelize mutates the objects that it receives.
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
        onConflict: { type: DataTypes.STRING(9, true), allowNull: false, defaultValue: 'fail' },
        createdAt: moment(),
      },
      { sequelize, tableName: 'upload_session' },
    )
  }
}
