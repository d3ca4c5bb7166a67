import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { moment, uuid } from './columns.ts'

/**
 * The ledger of every object in the store; the id is the object's key.
 * staged: reserved, upload in progress; copied: a copy of a staged one, which holds the reservation; live: an entry refers to it;
 * deleting: the object is deleted next, then the row.
 */
export class Blob extends Model<InferAttributes<Blob>, InferCreationAttributes<Blob>> {
  declare id: string
  declare bucketId: string
  declare state: 'staged' | 'copied' | 'live' | 'deleting'
  /** Its part of the bucket's reservation while it is staged, in bytes. */
  declare reservedBytes: number
  declare size: number
  /** Until when its uploader holds the lease (staged, copied), or when the sweeper may next try (deleting). */
  declare leaseUntil: number
  declare createdAt: number

  static define(sequelize: Sequelize): void {
    // A function, because Sequelize mutates the objects that it receives.
    const bytes = () => ({ type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 })
    this.init(
      {
        id: uuid({ primaryKey: true }),
        bucketId: uuid({ allowNull: false }),
        state: { type: DataTypes.STRING(8), allowNull: false },
        reservedBytes: bytes(),
        size: bytes(),
        leaseUntil: moment(),
        createdAt: moment(),
      },
      { sequelize, tableName: 'blobs' },
    )
  }
}
