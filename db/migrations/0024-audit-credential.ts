import type { Migration } from '../migration.ts'

const columns = ['via_id', 'at']
const name = `event_${columns.join('_')}`

/** The audit trail is searched by session, key or file request. */
export const auditCredential: Migration = {
  name: '0024-audit-credential',

  async up({ db, transaction }) {
    const tables = db.sequelize.getQueryInterface()
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    const known = (await tables.showIndex('event', options)) as { name: string }[]
    if (!known.some(index => index.name === name))
      await tables.addIndex('event', columns, { name, ...options })
  },
}
