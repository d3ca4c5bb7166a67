import { MAX_SLUG, MAX_WORKSPACE_NAME } from '../../src/values/limits.ts'
import { moment, type Row, table, text, touched, uuid } from './columns.ts'

export const Workspace = table({
  tableName: 'workspace',
  columns: {
    id: uuid.key(),
    name: text(MAX_WORKSPACE_NAME),
    slug: text(MAX_SLUG),
    /** The owner whose plan limits the workspace: one of its members with the role owner. */
    ownerId: uuid,
    touched,
    createdAt: moment,
  },
  unique: [['slug']],
  indexes: [['ownerId']],
})

export type Workspace = Row<typeof Workspace>
