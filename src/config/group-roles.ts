import { z } from 'zod'

/** The role that the members of a provider's group have in a workspace. */
export interface GroupRole {
  group: string
  workspaceId: string
  role: 'admin' | 'editor' | 'viewer'
}

// A group may hold "=" and "/", as those of Keycloak do, so the id is what begins after the last "=".
const grant = /^(.+)=([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\/(admin|editor|viewer)$/i

/** Reads GROUP_ROLES. */
export const groupRoles = z.string().transform((text, context): GroupRole[] => {
  if (text.trim() === '') return []
  return text.split(',').map(part => {
    const [, group, workspaceId, role] = grant.exec(part.trim()) ?? []
    if (group !== undefined && workspaceId !== undefined && role !== undefined)
      return {
        group: group.trim(),
        workspaceId: workspaceId.toLowerCase(),
        role: role.toLowerCase() as GroupRole['role'],
      }
    context.addIssue('must be <group>=<id of a workspace>/<admin, editor or viewer>, comma separated')
    return z.NEVER
  })
})
