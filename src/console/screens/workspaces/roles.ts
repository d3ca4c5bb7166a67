import type { graphql } from '../../graphql/graphql.ts'
import { text } from './text.ts'

export type Role = ReturnType<typeof graphql.scalar<'Role'>>

/** The roles that an invite can offer. */
export const invitable: readonly Role[] = ['EDITOR', 'VIEWER', 'ADMIN']

const names = {
  OWNER: text('OWNER'),
  ADMIN: text('ADMIN'),
  EDITOR: text('EDITOR'),
  VIEWER: text('VIEWER'),
}
export const roleName = (role: Role): string => names[role]

const hints = {
  OWNER: text('hintOWNER'),
  ADMIN: text('hintADMIN'),
  EDITOR: text('hintEDITOR'),
  VIEWER: text('hintVIEWER'),
}
/** The permissions of a role, in words. */
export const roleHint = (role: Role): string => hints[role]
