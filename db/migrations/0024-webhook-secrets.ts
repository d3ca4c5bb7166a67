import { DataTypes } from 'sequelize'
import type { Migration } from '../migrate.ts'

/** Which of its secrets a webhook signs with, and until when with the one before. */
export const webhookSecrets: Migration = {
  name: '0024-webhook-secrets',

  async up({ column }) {
    await column('webhook', 'secret_number', { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 })
    await column('webhook', 'old_secret_ends_at', { type: DataTypes.BIGINT, allowNull: true })
  },

  async down({ dropColumn }) {
    await dropColumn('webhook', 'old_secret_ends_at')
    await dropColumn('webhook', 'secret_number')
  },
}
