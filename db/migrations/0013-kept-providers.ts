import { DataTypes } from 'sequelize'
import type { Migration } from '../migrate.ts'

export const keptProviders: Migration = {
  name: '0013-kept-providers',

  async up({ column }) {
    await column('bucket', 'kept_providers', { type: DataTypes.TEXT, allowNull: true })
  },

  // The migration that created the table drops it.
  async down() {},
}
