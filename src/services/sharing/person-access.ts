import { type MemberView, membershipsWith } from '../../../db/queries/member.ts'
import type { Caller } from '../../access/caller.ts'
import type { Core } from '../core.ts'
import { parseEmail } from '../notices/email.ts'
import type { MemberService } from '../workspaces/member.ts'
import type { WorkspaceView } from '../workspaces/workspace.ts'
import type { ShareEndService } from './share-end.ts'

/** What connects a caller with the owner of an e-mail address. */
export interface PersonAccess {
  email: string
  /** The memberships of the person in workspaces of the caller. */
  memberships: (MemberView & { workspaceId: string })[]
}

interface Deps extends Core<'db' | 'change'> {
  members: MemberService
  shareEnds: ShareEndService
}

/** What another person can see because of the caller, and its end. */
export function personAccessService({ db, change, members, shareEnds }: Deps) {
  return {
    /** @throws INVALID_INPUT */
    async read(caller: Caller, address: string): Promise<PersonAccess> {
      const email = parseEmail(address, 'email')
      return { email, memberships: await membershipsWith(db, caller.userId, email) }
    },

    /**
     * Ends all shares that the caller made for an address, and the given memberships of its owner:
     * all of them or, if one cannot be ended, nothing.
     * @param workspaces of which the caller is a member
     * @returns the ids of the ended shares, and the ended memberships
     * @throws INVALID_INPUT, MEMBER_NOT_FOUND, FORBIDDEN
     */
    async end(
      caller: Caller,
      address: string,
      workspaces: readonly WorkspaceView[],
    ): Promise<Pick<PersonAccess, 'memberships'> & { shareIds: string[] }> {
      const { email, memberships } = await this.read(caller, address)
      // In one order, so that two such calls do not deadlock.
      const sorted = [...workspaces].sort((a, b) => (a.id < b.id ? -1 : 1))
      return change(caller, async of => {
        const ended: PersonAccess['memberships'] = []
        for (const workspace of sorted) {
          const member = memberships.find(({ workspaceId }) => workspaceId === workspace.id)
          await members.removeWithin(of, caller, workspace, member?.userId ?? '')
          if (member) ended.push(member)
        }
        return { memberships: ended, shareIds: await shareEnds.endWith(caller, email, of) }
      })
    },
  }
}
