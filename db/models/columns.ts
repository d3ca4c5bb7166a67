import { DataTypes } from 'sequelize'

interface Options {
  primaryKey?: true
  allowNull?: boolean
}

/** An id, made by the service. ASCII, so that an index entry takes 36 bytes and not 144. */
export const uuid = <O extends Options>(options: O) => ({ type: DataTypes.STRING(36, true), ...options })

/** A SHA-256, as 64 hex digits. */
export const digest = <O extends Options>(options: O) => ({ type: DataTypes.STRING(64, true), ...options })

/** A time: milliseconds since 1970 in UTC. A number, because the engines disagree on everything else. */
export const moment = (options: Options = {}) => ({ type: DataTypes.BIGINT, allowNull: false, ...options })

export const reference = (model: string, onDelete: 'CASCADE' | 'RESTRICT' = 'RESTRICT') => ({
  references: { model, key: 'id' },
  onDelete,
})
