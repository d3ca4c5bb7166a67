import { MAX_EMAIL } from '../../src/values/limits.ts'
import { flag, moment, type Row, table, text, uuid } from './columns.ts'

/** A way to sign in: one user of one provider. */
export const Identity = table({
  tableName: 'identity',
  columns: {
    id: uuid.key(),
    userId: uuid.ownedBy('user'),
    provider: text(64),
    providerUserId: text(255),
    email: text(MAX_EMAIL),
    emailVerified: flag,
    name: text(255),
    avatarUrl: text(2048),
    createdAt: moment,
  },
  unique: [['provider', 'providerUserId']],
})

export type Identity = Row<typeof Identity>
