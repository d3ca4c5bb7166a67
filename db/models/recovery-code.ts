import { digest, moment, type Row, table, uuid } from './columns.ts'

/** A code that replaces the second factor once. */
export const RecoveryCode = table({
  tableName: 'recovery_code',
  columns: {
    /** A keyed digest of the login and the code. */
    hash: digest.key(),
    loginId: uuid.ownedBy('login'),
    createdAt: moment,
  },
  indexes: [['loginId']],
})

export type RecoveryCode = Row<typeof RecoveryCode>
