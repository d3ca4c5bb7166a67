import { digest, longText, moment, type Row, table, word } from './columns.ts'

/** The state of a sign-in at the provider of own accounts: interactions, codes, tokens, grants. */
export const SignInState = table({
  tableName: 'sign_in_state',
  columns: {
    /** A hash of its model and its id, which is a secret for codes and tokens. */
    hash: digest.key(),
    model: word(32),
    /** A hash of its grant. It ends with the grant. */
    grantHash: digest.nullable(),
    /** JSON, without the id. */
    payload: longText,
    consumedAt: moment.nullable(),
    createdAt: moment,
    expiresAt: moment,
  },
  indexes: [['expiresAt'], ['grantHash'], ['model', 'createdAt']],
})

export type SignInState = Row<typeof SignInState>
