import { MAX_CLIENT_ID, MAX_KEY_NAME, MAX_REDIRECT_URI } from '../../src/values/limits.ts'
import { digest, integer, moment, number, type Row, table, text, uuid, word } from './columns.ts'

/**
 * A program that waits for an API key. In the device flow, the row exists from the request on; with
 * a loopback redirect, from the approval on. It is deleted when the key is issued.
 */
export const LoginRequest = table({
  tableName: 'login_request',
  columns: {
    id: uuid.key(),
    /** Of the authorization code or of the device code; neither is stored. */
    codeHash: digest,
    /**
     * A keyed digest of the user code: it is too short for a plain hash. Null for a loopback
     * redirect.
     */
    userCode: digest.nullable(),
    state: word<'pending' | 'approved' | 'refused'>(8),
    clientId: text(MAX_CLIENT_ID),
    /** What the program calls itself; the name of the key. */
    name: text(MAX_KEY_NAME),
    /** Separated by spaces. */
    scopes: text(1000),
    /** How long the key will be valid, in seconds. */
    lifetime: number,
    /** The PKCE challenge; empty in the device flow. */
    challenge: text(43),
    redirectUri: text(MAX_REDIRECT_URI),
    /** The resource for which a registered program asks tokens. Null for an API key. */
    resource: text(300).nullable(),
    /** The network of the program, never its full IP address; empty for a loopback redirect. */
    network: text(64),
    /** Who has approved it. */
    userId: uuid.ownedBy('user').nullable(),
    /** The session that approved it. The approval ends with this session. */
    sessionId: uuid.nullable(),
    createdAt: moment,
    expiresAt: moment,
    polledAt: moment.nullable(),
    /** The minimum number of seconds between two polls. */
    pollInterval: integer,
  },
  unique: [['codeHash'], ['userCode']],
  indexes: [['expiresAt'], ['userId']],
})

export type LoginRequest = Row<typeof LoginRequest>
