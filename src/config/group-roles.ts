import { z } from 'zod'

/** The role that the members of a provider's group have in a workspace. */
export interface GroupRole {
  provider: string
  group: string
  workspaceId: string
  role: 'admin' | 'editor' | 'viewer'
}

/** An entry as it is written: the provider may be left out. */
type Entry = Omit<GroupRole, 'provider'> & { provider: string | null }

// A group may hold "=" and "/", as those of Keycloak do, so the id is what begins after the last
// "=". It may also hold ":", so a provider must be named before such a group.
const grant =
  /^(?:([^:]*):|(?=[^:]*$))(.+)=([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\/(admin|editor|viewer)$/i

/** Reads GROUP_ROLES. */
export const groupRoles = z.string().transform((text, context): Entry[] => {
  if (text.trim() === '') return []
  return text.split(',').map(part => {
    const [, provider, group, workspaceId, role] = grant.exec(part.trim()) ?? []
    if (group !== undefined && workspaceId !== undefined && role !== undefined)
      return {
        provider: provider === undefined ? null : provider.trim().toLowerCase(),
        group: group.trim(),
        workspaceId: workspaceId.toLowerCase(),
        role: role.toLowerCase() as GroupRole['role'],
      }
    context.addIssue(
      'must be <provider>:<group>=<id of a workspace>/<admin, editor or viewer>, comma separated',
    )
    return z.NEVER
  })
})

/**
 * Assigns the entries to providers: anyone can name a group at a public provider, so a group counts
 * only at one of them.
 * @param providers their names, at least one
 * @param problems gets a line for each entry without a provider, unless there is only one, and for
 * each unknown provider
 */
export function withProviders(
  entries: Entry[],
  providers: string[],
  problems: string[],
): GroupRole[] {
  const [only = '', ...others] = providers
  const choices = `${others.length > 0 ? 'one of ' : ''}${providers.join(', ')}`
  return entries.map(({ provider, ...entry }) => {
    if (provider === null && others.length > 0)
      problems.push(
        `GROUP_ROLES: "${entry.group}" names no provider; write <provider>:${entry.group}=..., where the provider is ${choices}`,
      )
    else if (provider !== null && !providers.includes(provider))
      problems.push(
        `GROUP_ROLES: there is no provider "${provider}"; what stands before the first colon must be ${choices}`,
      )
    return { provider: provider ?? only, ...entry }
  })
}
