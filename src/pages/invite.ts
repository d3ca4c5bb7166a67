import { may, type Role } from '../access/roles.ts'
import { InvalidInput } from '../runtime/errors.ts'
import type { Services } from '../services/index.ts'
import { oneLine } from '../values/one-line.ts'
import { donePage } from './message.ts'
import { page, type Reply, readForm, signInAt, type Visit } from './visit.ts'
import { momentOf, personOf } from './words.ts'

/** The permissions of a role, in words. */
export function rightsOf(role: Role): string {
  if (may(role, 'manage')) return 'see, add and change files, and invite other people'
  return may(role, 'write') ? 'see, add and change files' : 'see and download files'
}

/** `/invite/{token}`: shows an invite, to accept or decline. */
export function invitePages({ invites }: Services, providers: string[]) {
  const hasAccounts = providers.includes('accounts')
  return {
    async show(visit: Visit): Promise<Reply> {
      const [caller, invite] = await Promise.all([visit.caller(), invites.find(visit.token)])
      invites.refuse(invite, caller)
      const workspace = oneLine(invite.workspaceName)
      const data = {
        here: visit.here,
        workspace,
        role: invite.role,
        rights: rightsOf(invite.role),
        invitedBy: personOf(invite.invitedBy),
        until: momentOf(invite.expiresAt),
        signIn: caller ? '' : signInAt(visit.here),
        join: hasAccounts && !caller ? `/sign-in/join/${visit.token}` : '',
      }
      return page('invite', data, { title: `Invite to ${workspace}`, caller })
    },

    async answer(visit: Visit): Promise<Reply> {
      const answer = (await readForm(visit)).get('answer')
      const caller = await visit.caller()
      if (!caller) return { to: signInAt(visit.here) }
      if (answer === 'decline') {
        await invites.reject(caller, visit.token)
        return donePage(
          'The invite is declined',
          'If you change your mind, ask for a new one.',
          caller,
        )
      }
      if (answer !== 'accept')
        throw new InvalidInput('answer', 'The answer must be accept or decline.')
      const { id, name, role } = await invites.accept(caller, visit.token)
      const sentence = `You are ${/^[aeio]/.test(role) ? 'an' : 'a'} ${role} of this workspace now: you may ${rightsOf(role)}.`
      const next = { label: 'Open the workspace', href: `/workspace/${id}` }
      return donePage(`Welcome to ${oneLine(name)}`, sentence, caller, next)
    },
  }
}
