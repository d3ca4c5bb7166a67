import type { Client } from '../client.ts'
import { Failure } from '../failure.ts'
import { isId } from '../find-place.ts'
import {
  AcceptInviteDocument,
  InviteDocument,
  type InviteRowFragment,
  MyInvitesDocument,
  RejectInviteDocument,
  RevokeInviteDocument,
  WorkspaceInvitesDocument,
} from '../generated.ts'
import { allPages } from '../pages.ts'
import { ownToken } from '../path.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { table, when } from '../table.ts'
import { plain } from '../text.ts'
import { type InviteRole, roleOf, wordOf } from '../words.ts'
import { enter, shown } from './workspace.ts'

export async function invite(
  context: Context,
  named: string,
  email: string,
  { role, message }: { role: InviteRole; message?: string },
): Promise<Answer> {
  const { client, workspaceId } = await enter(context, named)
  const input = { workspace: workspaceId, email, role: roleOf(role), message }
  const { invite } = await client.change(InviteDocument, input)
  return { fact: { invite: withRole(invite) }, words: '' }
}

const withRole = <T extends { role: string }>(one: T) => ({ ...one, role: wordOf(one.role) })

const invitesOf = (client: Client, workspace: string): Promise<InviteRowFragment[]> =>
  allPages(
    async after =>
      (await client.request(WorkspaceInvitesDocument, { workspace, after })).workspace.invites,
  )

const myInvites = async (session: Client) => {
  const invites = await allPages(
    async after => (await session.request(MyInvitesDocument, { after })).me.invites,
  )
  return invites.map(withRole)
}

export async function invites(context: Context, named: string | undefined): Promise<Answer> {
  if (named !== undefined) {
    const { client, workspaceId } = await enter(context, named)
    const invites = (await invitesOf(client, workspaceId)).map(withRole)
    const rows = invites.map(i => [i.email, i.role, when(i.expiresAt)])
    return {
      fact: { invites },
      words: rows.length > 0 ? table(['E-MAIL', 'ROLE', 'UNTIL'], rows) : '',
    }
  }
  const { session } = await open(context)
  const invites = await myInvites(session)
  const rows = invites.map(i => [
    i.workspaceSlug,
    i.workspaceName,
    i.role,
    when(i.expiresAt),
    i.token ?? '',
  ])
  const head = ['SLUG', 'NAME', 'ROLE', 'UNTIL', 'TOKEN']
  return { fact: { invites }, words: rows.length > 0 ? table(head, rows) : '' }
}

export async function withdraw(context: Context, named: string, email: string): Promise<Answer> {
  const { client, workspaceId } = await enter(context, named)
  const invites = await invitesOf(client, workspaceId)
  const found = invites.find(i => i.id === email || i.email.toLowerCase() === email.toLowerCase())
  if (!found) throw new Failure('INVITE_NOT_FOUND', `There is no invite for ${email}.`)
  await client.change(RevokeInviteDocument, { invite: found.id })
  return { fact: { inviteId: found.id }, words: '' }
}

/** The token of an invite, given its link, its token, or its workspace. */
async function tokenOf(session: Client, named: string): Promise<string> {
  const bare = named.replace(/:\/*$/, '')
  const invites = await myInvites(session)
  const found = invites.find(i => (isId(bare) ? i.workspaceId : i.workspaceSlug) === bare)
  return found?.token ?? ownToken(named, session.url)
}

export async function accept(context: Context, named: string): Promise<Answer> {
  const { session } = await open(context)
  const token = await tokenOf(session, named)
  const workspace = shown((await session.change(AcceptInviteDocument, { token })).workspace)
  const { name, role, slug } = workspace
  return { fact: { workspace }, words: plain(`You joined ${name} (${slug}) as ${role}.`) }
}

export async function reject(context: Context, named: string): Promise<Answer> {
  const { session } = await open(context)
  const token = await tokenOf(session, named)
  await session.change(RejectInviteDocument, { token })
  return { fact: { rejected: true }, words: '' }
}
