import { MAX_KEY_DESCRIPTION, MAX_KEY_NAME } from '../../src/values/limits.ts'
import { digest, moment, type Row, table, text, touched, uuid } from './columns.ts'

/**
 * A key of a user (private) or of a workspace. Looked up by the hash of its secret; the secret
 * itself is not stored.
 */
export const ApiKey = table({
  tableName: 'api_key',
  columns: {
    id: uuid.key(),
    hash: digest,
    /** The last characters of the secret, to tell keys apart. */
    hint: text(8),
    name: text(MAX_KEY_NAME),
    description: text(MAX_KEY_DESCRIPTION),
    /** Separated by spaces. */
    scopes: text(1000),
    /** Null for a private key. */
    workspaceId: uuid.ownedBy('workspace').nullable(),
    /** The user whose rights limit those of the key; the owner of a private key. */
    createdBy: uuid.ownedBy('user'),
    touched,
    createdAt: moment,
    lastUsedAt: moment.nullable(),
    expiresAt: moment.nullable(),
  },
  unique: [['hash']],
  indexes: [
    ['workspaceId', 'createdAt'],
    ['createdBy', 'createdAt'],
  ],
})

export type ApiKey = Row<typeof ApiKey>
