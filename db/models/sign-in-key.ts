import { longText, moment, number, type Row, table } from './columns.ts'

/** A key that signs the ID tokens of own accounts for one period of time. */
export const SignInKey = table({
  tableName: 'sign_in_key',
  columns: {
    /**
     * The number of the period, so that instances that create the key at the same time agree on one
     * key.
     */
    period: number.key(),
    /** The private key as a JWK, sealed with SECRET_KEY. */
    sealed: longText,
    createdAt: moment,
  },
})

export type SignInKey = Row<typeof SignInKey>
