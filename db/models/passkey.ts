import { digest, flag, longText, moment, number, type Row, table, text, uuid } from './columns.ts'

/** A passkey of an account of this service. */
export const Passkey = table({
  tableName: 'passkey',
  columns: {
    id: uuid.key(),
    loginId: uuid.ownedBy('login'),
    /** The SHA-256 of its credential id, which may have 1,023 bytes. */
    credentialHash: digest,
    /** In base64url. */
    credentialId: longText,
    /** In COSE, as base64url. */
    publicKey: longText,
    /** Its signature counter; 0 if it does not count. */
    counter: number,
    /** Separated by spaces. */
    transports: text(100),
    name: text(100),
    /** Whether it is synchronized to other devices. */
    backedUp: flag,
    createdAt: moment,
    lastUsedAt: moment.nullable(),
  },
  unique: [['credentialHash']],
  indexes: [['loginId']],
})

export type Passkey = Row<typeof Passkey>
