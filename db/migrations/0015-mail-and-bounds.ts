import { DataTypes } from 'sequelize'
import type { Migration } from '../migrate.ts'

/** Null means unlimited (docs/contract.md, section 7). */
const plans = [
  { id: 'free', folders: 10_000, links: 1_000, invites: 100, notes: 10_000 },
  { id: 'developer', folders: 100_000, links: 10_000, invites: 500, notes: 100_000 },
  { id: 'enterprise', folders: null, links: null, invites: 5_000, notes: null },
]
const limits = ['max_folders', 'max_public_links', 'max_pending_invites', 'max_notes']

export const mailAndBounds: Migration = {
  name: '0015-mail-and-bounds',

  async up({ create, index, column, run, dialect }) {
    const mysql = dialect === 'mysql'
    const id = mysql ? 'CHAR(36) CHARACTER SET ascii COLLATE ascii_bin' : DataTypes.STRING(36)
    const digest = mysql ? 'CHAR(64) CHARACTER SET ascii COLLATE ascii_bin' : DataTypes.STRING(64)
    const time = { type: DataTypes.BIGINT, allowNull: false }

    await create('mail_recipient', {
      id: { type: id, primaryKey: true, allowNull: false },
      address_hash: { type: digest, allowNull: false },
      stopped_at: { type: DataTypes.BIGINT, allowNull: true },
      created_at: time,
    })
    await index('mail_recipient', ['address_hash'], { unique: true })

    await create('mail_notice', {
      id: { type: id, primaryKey: true, allowNull: false },
      recipient_id: { type: id, allowNull: false },
      sender_id: { type: id, allowNull: false },
      about: { type: digest, allowNull: false },
      sent_at: time,
    })
    await index('mail_notice', ['recipient_id', 'sent_at'])
    await index('mail_notice', ['sent_at'])

    // To find the invites of a sender who loses the right.
    await index('invite', ['invited_by'])

    for (const limit of limits) await column('plan', limit, { type: DataTypes.BIGINT, allowNull: true })
    for (const { id: plan, folders, links, invites, notes } of plans)
      await run(
        `UPDATE plan SET max_folders = ${folders}, max_public_links = ${links}, max_pending_invites = ${invites}, max_notes = ${notes} WHERE id = '${plan}'`,
      )

    const counter = { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 }
    await column('bucket', 'link_count', counter)
    await column('bucket', 'note_count', counter)
    await run('UPDATE bucket SET note_count = (SELECT COUNT(*) FROM note WHERE note.bucket_id = bucket.id)')
    await run(
      'UPDATE bucket SET link_count = (SELECT COUNT(*) FROM share WHERE share.bucket_id = bucket.id AND share.recipient IS NULL)',
    )
  },

  async down({ drop, dropColumn }) {
    await drop('mail_notice')
    await drop('mail_recipient')
    for (const limit of limits) await dropColumn('plan', limit)
    await dropColumn('bucket', 'link_count')
    await dropColumn('bucket', 'note_count')
  },
}
