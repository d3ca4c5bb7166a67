import { digest, moment, type Row, table, text, touched, uuid } from './columns.ts'

/** Looked up by the hash of its cookie; the API refers to it by its id. */
export const Session = table({
  tableName: 'session',
  columns: {
    hash: digest.key(),
    id: uuid,
    userId: uuid.ownedBy('user'),
    touched,
    createdAt: moment,
    expiresAt: moment,
    /** Updated every few minutes at most. */
    lastUsedAt: moment,
    /** Display name of the device, such as "Firefox on Linux". */
    device: text(200),
    /** The network of the client at sign-in, never its full IP address. */
    address: text(64),
    /** The OpenID Connect provider of the sign-in, or null. */
    provider: text(64).nullable(),
    /** A hash of the provider and of its session id (`sid`), if it has one. */
    providerSession: digest.nullable(),
    /** When its person last confirmed their identity, after the session began. */
    provedAt: moment.nullable(),
    /** When the provider issued the first ID token of the session, by the provider's clock. */
    providerIssuedAt: moment.nullable(),
  },
  unique: [['id']],
  indexes: [['expiresAt'], ['providerSession'], ['userId', 'lastUsedAt']],
})

export type Session = Row<typeof Session>
