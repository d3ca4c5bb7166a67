import { MAX_KEY_NAME } from '../../src/values/limits.ts'
import { longText, moment, type Row, table, text, uuid } from './columns.ts'

/** A program that has registered itself (RFC 7591). Nobody has verified its name. */
export const OAuthClient = table({
  tableName: 'oauth_client',
  columns: {
    id: uuid.key(),
    name: text(MAX_KEY_NAME),
    /** A JSON array of URLs. */
    redirectUris: longText,
    createdAt: moment,
    /** Later once a person has approved it. */
    expiresAt: moment,
  },
  indexes: [['expiresAt']],
})

export type OAuthClient = Row<typeof OAuthClient>
