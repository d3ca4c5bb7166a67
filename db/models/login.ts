import { MAX_EMAIL } from '../../src/values/limits.ts'
import { moment, number, type Row, table, text, touched, uuid } from './columns.ts'

/** The credentials of a person who signs in with an account of this service. */
export const Login = table({
  tableName: 'login',
  columns: {
    /** Also the id of the identity at the provider of own accounts. */
    id: uuid.key(),
    userId: uuid.ownedBy('user'),
    /** Verified, in the canonical form. */
    email: text(MAX_EMAIL),
    /** A PHC string of Argon2id; null without a password. */
    password: text(255).nullable(),
    touched,
    createdAt: moment,
    lastSignInAt: moment.nullable(),
    /** The secret of the codes of an app, sealed with SECRET_KEY; null without a second factor. */
    totp: text(512).nullable(),
    /** The time step of the last used code, so that no code is accepted twice. */
    totpStep: number.nullable(),
    /** Identifies the current second factor, for browsers that may skip the code. */
    factorAt: moment.nullable(),
  },
  unique: [['email'], ['userId']],
})

export type Login = Row<typeof Login>
