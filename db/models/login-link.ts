import { MAX_EMAIL } from '../../src/values/limits.ts'
import { digest, moment, type Row, table, text, uuid, word } from './columns.ts'

/** The purpose of a one-time link. */
export type LoginLinkKind =
  | 'first'
  | 'invite'
  | 'sign-up'
  | 'reset'
  | 'reset-all'
  | 'address-from'
  | 'address-to'

/** A one-time link with which a person creates an account or regains access to it. */
export const LoginLink = table({
  tableName: 'login_link',
  columns: {
    /** The SHA-256 of its secret. */
    hash: digest.key(),
    kind: word<LoginLinkKind>(16),
    /** The address that it verifies, in the canonical form; empty for the first account. */
    email: text(MAX_EMAIL),
    name: text(255),
    /** The account that it belongs to, if it exists already. */
    userId: uuid.ownedBy('user').nullable(),
    /** The operator who made it; null for the service and its command line. */
    madeBy: uuid.nullable(),
    createdAt: moment,
    expiresAt: moment,
  },
  indexes: [['email', 'kind'], ['expiresAt'], ['userId']],
})

export type LoginLink = Row<typeof LoginLink>
