import { digest, moment, type Row, table, text, uuid, word } from './columns.ts'

/**
 * A token of a grant. The grant is the API key, whose own secret nobody has. Tokens end with it.
 */
export const OAuthToken = table({
  tableName: 'oauth_token',
  columns: {
    /** Of the token, which is not stored. */
    hash: digest.key(),
    kind: word<'access' | 'refresh'>(8),
    keyId: uuid.ownedBy('api_key'),
    clientId: uuid,
    /** The only resource that accepts it (RFC 8707). */
    resource: text(300),
    expiresAt: moment,
    /** When a refresh token was first used. */
    usedAt: moment.nullable(),
  },
  indexes: [['keyId'], ['expiresAt']],
})

export type OAuthToken = Row<typeof OAuthToken>
