import { may, type Role } from '../access/roles.ts'
import { InvalidInput } from '../runtime/errors.ts'
import type { Services } from '../services/index.ts'
import { oneLine } from '../values/one-line.ts'
import { donePage } from './message.ts'
import { page, type Reply, readForm, signInAt, type Visit } from './visit.ts'
import { personOf, type Words } from './words.ts'

/** The permissions of a role, in words. */
export function rightsOf(role: Role, { say }: Pick<Words, 'say'>): string {
  if (may(role, 'manage')) return say('rightsManage')
  return say(may(role, 'write') ? 'rightsWrite' : 'rightsRead')
}

/** `/invite/{token}`: shows an invite, to accept or decline. */
export function invitePages({ invites }: Services, providers: string[]) {
  const hasAccounts = providers.includes('accounts')
  return {
    async show(visit: Visit): Promise<Reply> {
      const [caller, invite] = await Promise.all([visit.caller(), invites.find(visit.token)])
      invites.refuse(invite, caller)
      const { words } = visit
      const workspace = oneLine(invite.workspaceName)
      const data = {
        here: visit.here,
        workspace,
        role: words.roleOf(invite.role),
        rights: rightsOf(invite.role, words),
        invitedBy: personOf(invite.invitedBy),
        until: words.momentOf(invite.expiresAt),
        signIn: caller ? '' : signInAt(visit.here),
        join: hasAccounts && !caller ? `/sign-in/join/${visit.token}` : '',
      }
      return page('invite', data, { title: words.say('inviteTitle', { workspace }), caller })
    },

    async answer(visit: Visit): Promise<Reply> {
      const { words } = visit
      const answer = (await readForm(visit)).get('answer')
      const caller = await visit.caller()
      if (!caller) return { to: signInAt(visit.here) }
      if (answer === 'decline') {
        await invites.reject(caller, visit.token)
        return donePage(words, {
          heading: words.say('declined'),
          sentence: words.say('declinedText'),
          caller,
        })
      }
      if (answer !== 'accept')
        throw new InvalidInput('answer', 'The answer must be accept or decline.')
      const { id, name, role } = await invites.accept(caller, visit.token)
      return donePage(words, {
        heading: words.say('welcomeTo', { workspace: oneLine(name) }),
        sentence: words.say('memberNow', {
          role: words.roleOf(role),
          rights: rightsOf(role, words),
        }),
        caller,
        next: { label: words.say('openWorkspace'), href: `/workspace/${id}` },
      })
    },
  }
}
