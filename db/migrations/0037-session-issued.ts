import { addColumn, type Migration } from '../migration.ts'

/** Records when the ID token of a session was issued, so that logout tokens compare with it. */
export const sessionIssued: Migration = {
  name: '0037-session-issued',

  up: context => addColumn(context, 'session', 'provider_issued_at', 'BIGINT'),
}
