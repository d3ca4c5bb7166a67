import type { Client } from '../client.ts'
import { Failure } from '../failure.ts'
import { isId } from '../find-place.ts'
import {
  AcceptInviteDocument,
  DeleteInviteDocument,
  InviteDocument,
  MyInvitesDocument,
  RejectInviteDocument,
  WorkspaceInvitesDocument,
} from '../generated.ts'
import { ownToken } from '../path.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { table, when } from '../table.ts'
import { plain } from '../text.ts'
import { enter } from './workspace.ts'

export async function invite(context: Context, named: string, email: string, role: string): Promise<Answer> {
  const { client, workspaceId } = await enter(context, named)
  const { createInvite } = await client.request(InviteDocument, { input: { workspaceId, email, role } })
  return { fact: { invite: createInvite }, words: '' }
}

export async function invites(context: Context, named: string | undefined): Promise<Answer> {
  if (named !== undefined) {
    const { client, workspaceId } = await enter(context, named)
    const { workspaceInvites } = await client.request(WorkspaceInvitesDocument, { workspaceId })
    const rows = workspaceInvites.map(i => [i.email, i.role, when(i.expiresAt)])
    return {
      fact: { invites: workspaceInvites },
      words: rows.length > 0 ? table(['E-MAIL', 'ROLE', 'UNTIL'], rows) : '',
    }
  }
  const { session } = await open(context)
  const { myInvites } = await session.request(MyInvitesDocument, {})
  const rows = myInvites.map(i => [i.workspaceSlug, i.workspaceName, i.role, when(i.expiresAt), i.token])
  const head = ['SLUG', 'NAME', 'ROLE', 'UNTIL', 'TOKEN']
  return { fact: { invites: myInvites }, words: rows.length > 0 ? table(head, rows) : '' }
}

export async function withdraw(context: Context, named: string, email: string): Promise<Answer> {
  const { client, workspaceId } = await enter(context, named)
  const { workspaceInvites } = await client.request(WorkspaceInvitesDocument, { workspaceId })
  const found = workspaceInvites.find(i => i.id === email || i.email.toLowerCase() === email.toLowerCase())
  if (!found) throw new Failure('INVITE_NOT_FOUND', `There is no invite for ${email}.`)
  await client.request(DeleteInviteDocument, { input: { workspaceId, inviteId: found.id } })
  return { fact: { inviteId: found.id }, words: '' }
}

/** The token of an invite, given its link, its token, or its workspace. */
async function tokenOf(session: Client, named: string): Promise<string> {
  const bare = named.replace(/:\/*$/, '')
  const { myInvites } = await session.request(MyInvitesDocument, {})
  const found = myInvites.find(i => (isId(bare) ? i.workspaceId : i.workspaceSlug) === bare)
  return found?.token ?? ownToken(named, session.url)
}

export async function accept(context: Context, named: string): Promise<Answer> {
  const { session } = await open(context)
  const token = await tokenOf(session, named)
  const { acceptInvite } = await session.request(AcceptInviteDocument, { input: { token } })
  const { name, role, slug } = acceptInvite
  return { fact: { workspace: acceptInvite }, words: plain(`You joined ${name} (${slug}) as ${role}.`) }
}

export async function reject(context: Context, named: string): Promise<Answer> {
  const { session } = await open(context)
  const token = await tokenOf(session, named)
  await session.request(RejectInviteDocument, { input: { token } })
  return { fact: { rejected: true }, words: '' }
}
