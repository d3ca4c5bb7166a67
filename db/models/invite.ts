import type { Role } from '../../src/access/roles.ts'
import { MAX_EMAIL } from '../../src/values/limits.ts'
import { moment, type Row, table, text, uuid } from './columns.ts'

/**
 * An offer of a role to one e-mail address. Its token is derived from its id, not stored; accepting
 * it deletes the row.
 */
export const Invite = table({
  tableName: 'invite',
  columns: {
    id: uuid.key(),
    workspaceId: uuid.ownedBy('workspace'),
    /** In the form in which e-mail addresses are compared. */
    email: text(MAX_EMAIL),
    role: text<Role>(8),
    invitedBy: uuid,
    createdAt: moment,
    expiresAt: moment,
  },
  unique: [['workspaceId', 'email']],
  indexes: [['email'], ['invitedBy']],
})

export type Invite = Row<typeof Invite>
