import type { Db } from '../../../db/index.ts'
import type { Member } from '../../../db/models/member.ts'
import { lockWorkspace, workspaceWithSeats } from '../../../db/queries/workspace.ts'
import { isOwner, type Role, strongest } from '../../access/roles.ts'
import { type Config, embeddedName } from '../../config/config.ts'
import type { ProviderProfile } from '../accounts/profile.ts'
import type { Core } from '../core.ts'
import { type Change, system } from '../history/event.ts'
import { changeMembership, endMembership } from './membership.ts'

/** A membership change that a sign-in made or could not make, for the log. */
export interface GroupChange {
  /** Null for `unreadable_claim`, which concerns all workspaces. */
  workspaceId: string | null
  what:
    | 'joined'
    | 'role_changed'
    | 'removed'
    | 'no_such_workspace'
    | 'workspace_full'
    | 'unreadable_claim'
  role?: Role
  /** The provider that gave the role, if it differs from the provider of the sign-in. */
  provider?: string
}

/**
 * Gives users the roles of their groups at a provider. The settings GROUP_CLAIM and GROUP_ROLES map
 * groups to roles.
 */
export function groupMembershipService({
  db,
  change,
  groupClaim,
  groupRoles,
  providers,
}: Core<'db' | 'change'> & Pick<Config, 'groupClaim' | 'groupRoles' | 'providers'>) {
  const configured = new Set(
    providers.length > 0 ? providers.map(({ name }) => name) : [embeddedName],
  )
  const isRemoved = (provider: string) => !configured.has(provider)

  return {
    /**
     * Adds, changes and removes the memberships of a user that come from the groups at one
     * provider. Memberships by invite, memberships from another configured provider and owners stay
     * unchanged. Memberships from a provider that is no longer configured are removed. Skips
     * workspaces that are full or missing.
     */
    async apply(
      userId: string,
      {
        provider,
        claims,
        elsewhere,
        unreadable,
      }: Pick<ProviderProfile, 'provider' | 'claims' | 'elsewhere' | 'unreadable'>,
    ): Promise<GroupChange[]> {
      const removed = await endRemoved(userId)
      if (elsewhere?.includes(groupClaim)) return removed
      const given = groupRoles.filter(entry => entry.provider === provider)
      if (given.length > 0 && unreadable?.includes(groupClaim))
        return [...removed, { workspaceId: null, what: 'unreadable_claim' }]
      const groups = new Set(claims?.[groupClaim] ?? [])
      const wanted = new Map<string, Role>()
      for (const { group, workspaceId, role } of given)
        if (groups.has(group)) wanted.set(workspaceId, strongest(role, wanted.get(workspaceId)))
      const members = await db.Member.findAll({ where: { userId }, raw: true })
      const byWorkspace = new Map(members.map(member => [member.workspaceId, member]))
      const ofProvider = members
        .filter(member => member.provider === provider)
        .map(member => member.workspaceId)
      const changes = [...removed]
      for (const workspaceId of new Set([...wanted.keys(), ...ofProvider])) {
        const role = wanted.get(workspaceId)
        if (!differs(byWorkspace.get(workspaceId), provider, role)) continue
        const changed = await change(system, of =>
          settle(of, { workspaceId, userId, provider, role }),
        )
        if (changed) changes.push({ workspaceId, ...changed })
      }
      return changes
    },
  }

  /**
   * Removes memberships from providers that are no longer configured, because no sign-in can
   * confirm them.
   */
  async function endRemoved(userId: string): Promise<GroupChange[]> {
    const members = await db.Member.findAll({
      where: { userId },
      attributes: ['workspaceId', 'provider'],
      raw: true,
    })
    const concerned = new Set(
      members.flatMap(({ provider }) =>
        provider !== null && isRemoved(provider) ? [provider] : [],
      ),
    )
    const changes: GroupChange[] = []
    for (const provider of concerned) {
      const ended = await change(system, of => endGroupMemberships(db, of, userId, provider))
      for (const workspaceId of ended) changes.push({ workspaceId, what: 'removed', provider })
    }
    return changes
  }

  async function settle(
    of: Change,
    { workspaceId, userId, provider, role }: Pick<Member, 'workspaceId' | 'userId'> & Wanted,
  ): Promise<Omit<GroupChange, 'workspaceId'> | null> {
    const { tx, record } = of
    await lockWorkspace(db, workspaceId, tx)
    const workspace = await workspaceWithSeats(db, workspaceId, tx)
    if (!workspace) return { what: 'no_such_workspace' }
    const where = { workspaceId, userId }
    const member = await db.Member.findOne({ where, raw: true, transaction: tx })
    // The membership may have changed since it was read without the lock.
    if (!differs(member, provider, role)) return null
    if (!member) {
      if (!role) return null
      if (Number(workspace.used) >= workspace.max) return { what: 'workspace_full' }
      await db.Member.create(
        { ...where, role, provider, joinedAt: Date.now() },
        { transaction: tx },
      )
      const { name } = workspace
      record(
        { workspace: workspaceId },
        { kind: 'member.joined', subject: userId, details: { role, provider } },
      )
      record(userId, {
        kind: 'workspace.joined',
        subject: workspaceId,
        details: { name, role, provider },
      })
      return { what: 'joined', role }
    }
    if (role) {
      await changeMembership(db, of, where, { from: member.role, to: role, provider })
      return { what: 'role_changed', role }
    }
    await endMembership(db, of, where, { kind: 'member.removed', name: workspace.name, provider })
    return { what: 'removed' }
  }
}

/**
 * Removes the memberships of a user that come from groups of a provider. Owners keep theirs.
 * @returns the ids of the affected workspaces
 */
export async function endGroupMemberships(
  db: Db,
  of: Change,
  userId: string,
  provider: string,
): Promise<string[]> {
  const { tx: transaction } = of
  const where = { userId, provider }
  const members = await db.Member.findAll({ where, order: ['workspaceId'], raw: true, transaction })
  const ended: string[] = []
  for (const { workspaceId } of members) {
    await lockWorkspace(db, workspaceId, transaction)
    const workspace = await workspaceWithSeats(db, workspaceId, transaction)
    const membership = { workspaceId, userId }
    // The membership may have changed since it was read without the lock.
    const member = await db.Member.findOne({ where: membership, raw: true, transaction })
    if (!workspace || !differs(member, provider, undefined)) continue
    await endMembership(db, of, membership, {
      kind: 'member.removed',
      name: workspace.name,
      provider,
    })
    ended.push(workspaceId)
  }
  return ended
}

interface Wanted {
  provider: string
  /** Undefined if no group gives a role. */
  role: Role | undefined
}

/** Whether a membership differs from the groups and the groups may change it. */
function differs(
  member: Pick<Member, 'provider' | 'role'> | null | undefined,
  provider: string,
  role: Role | undefined,
): boolean {
  if (!member) return role !== undefined
  return member.provider === provider && !isOwner(member.role) && member.role !== role
}

export type GroupMembershipService = ReturnType<typeof groupMembershipService>
