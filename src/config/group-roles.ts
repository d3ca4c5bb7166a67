import { z } from 'zod'

/** A role in a workspace for the members of a provider's group. */
export interface GroupRole {
  provider: string
  group: string
  workspaceId: string
  role: 'admin' | 'editor' | 'viewer'
}

/** An entry as written; the provider may be omitted. */
type Entry = Omit<GroupRole, 'provider'> & { provider: string | null }

// A group may contain "=" and "/", as in Keycloak, so the id starts after the last "=". It may also
// contain ":", so such a group needs an explicit provider.
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
 * Assigns the entries to providers. At a public provider anyone can create a group of any name, so
 * a group counts at one provider only.
 * @param providers their names, at least one
 * @param problems receives a line for each entry with an unknown provider, or without one if there
 * are several
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
