import type { Role } from '../../src/access/roles.ts'
import { moment, type Row, table, text, uuid } from './columns.ts'

/** A user in a workspace. */
export const Member = table({
  tableName: 'member',
  columns: {
    workspaceId: uuid.key().ownedBy('workspace'),
    userId: uuid.key().ownedBy('user'),
    role: text<Role>(8),
    joinedAt: moment,
    /**
     * The sign-in provider whose groups gave the role; null if a person granted it.
     */
    provider: text(64).nullable(),
  },
  indexes: [['userId']],
})

export type Member = Row<typeof Member>
