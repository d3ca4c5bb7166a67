import type { Client, Service } from '../client.ts'
import { Failure, isFailure } from '../failure.ts'
import { workspaceId } from '../find-place.ts'
import {
  ChangeRoleDocument,
  CreateWorkspaceDocument,
  DeleteWorkspaceDocument,
  MembersDocument,
  RemoveMemberDocument,
  RenameWorkspaceDocument,
  type WorkspaceRowFragment,
  WorkspacesDocument,
} from '../generated.ts'
import { ask } from '../prompt.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { table, when } from '../table.ts'
import { plain } from '../text.ts'
import { validityOf } from './login.ts'

/** A workspace by its slug or id, and the client for it. */
export async function enter(
  context: Context,
  named: string,
): Promise<{ service: Service; client: Client; workspaceId: string }> {
  const service = await open(context)
  const id = await workspaceId(service, named)
  return { service, client: service.workspace(id), workspaceId: id }
}

/** The workspaces that the stored credentials can list. */
export async function workspacesOf(service: Service, notice: (line: string) => void): Promise<WorkspaceRowFragment[]> {
  const own = service.login.session
  // A workspace key lists its own workspace only.
  const clients = [
    ...(own?.kind === 'session' || service.login.workspaces.length === 0 ? [service.session] : []),
    ...(own?.kind === 'session' ? [] : service.login.workspaces.map(({ id }) => service.workspace(id))),
  ]
  const answers = await Promise.all(
    clients.map(async client => {
      try {
        return (await client.request(WorkspacesDocument, {})).workspaces
      } catch (error) {
        if (clients.length === 1 || !isFailure(error, 'INSUFFICIENT_SCOPE', 'UNAUTHENTICATED')) throw error
        notice(`One key cannot read its workspace: ${error.message}`)
        return []
      }
    }),
  )
  return answers.flat()
}

export async function list(context: Context): Promise<Answer> {
  const workspaces = await workspacesOf(await open(context), context.notice)
  const rows = workspaces.map(w => [w.slug, w.name, w.role, when(w.createdAt), w.workspaceId])
  return { fact: { workspaces }, words: rows.length > 0 ? table(['SLUG', 'NAME', 'ROLE', 'SINCE', 'ID'], rows) : '' }
}

export async function create(context: Context, name: string, slug: string | undefined): Promise<Answer> {
  const { session } = await open(context)
  const { createWorkspace } = await session.request(CreateWorkspaceDocument, { input: { name, slug: slug ?? null } })
  return { fact: { workspace: createWorkspace }, words: plain(createWorkspace.slug) }
}

export async function rename(context: Context, named: string, name: string, slug: string | undefined): Promise<Answer> {
  const { client, workspaceId } = await enter(context, named)
  const input = { workspaceId, name, slug: slug ?? null }
  const { renameWorkspace } = await client.request(RenameWorkspaceDocument, { input })
  return { fact: { workspace: renameWorkspace }, words: plain(renameWorkspace.slug) }
}

export async function remove(context: Context, named: string, sure: boolean): Promise<Answer> {
  const { client, workspaceId } = await enter(context, named)
  if (!sure) {
    if (!process.stdin.isTTY || context.json)
      throw new Failure('USAGE', `This deletes ${named} with all its files. Add --yes to confirm.`)
    const answer = await ask(
      `This deletes ${named} with all its files. Type its name to confirm: `,
      context.patience.signal,
    )
    if (answer.trim() !== named) throw new Failure('USAGE', 'Nothing was deleted.')
  }
  await client.request(DeleteWorkspaceDocument, { input: { workspaceId } })
  return { fact: { workspaceId }, words: '' }
}

export async function members(context: Context, named: string): Promise<Answer> {
  const { client, workspaceId } = await enter(context, named)
  const { workspaceMembers } = await client.request(MembersDocument, { workspaceId })
  const rows = workspaceMembers.map(m => [m.email, m.name, m.role, when(m.joinedAt)])
  return { fact: { members: workspaceMembers }, words: table(['E-MAIL', 'NAME', 'ROLE', 'SINCE'], rows) }
}

/** The id of a member, given the id or the e-mail address. @throws MEMBER_NOT_FOUND */
async function memberId(client: Client, workspaceId: string, member: string): Promise<string> {
  if (!member.includes('@')) return member
  const { workspaceMembers } = await client.request(MembersDocument, { workspaceId })
  const found = workspaceMembers.filter(({ email }) => email.toLowerCase() === member.toLowerCase())
  const [first] = found
  if (first && found.length === 1) return first.userId
  throw new Failure(
    'MEMBER_NOT_FOUND',
    first
      ? `Several members have the e-mail address ${member}. Use the id: satchel workspace members --json shows it.`
      : `There is no member with the e-mail address ${member}.`,
  )
}

export async function role(context: Context, named: string, member: string, to: string): Promise<Answer> {
  const { client, workspaceId } = await enter(context, named)
  const userId = await memberId(client, workspaceId, member)
  const { changeMemberRole } = await client.request(ChangeRoleDocument, { input: { workspaceId, userId, role: to } })
  return { fact: { member: changeMemberRole }, words: '' }
}

export async function dismiss(context: Context, named: string, member: string): Promise<Answer> {
  const { client, workspaceId } = await enter(context, named)
  const userId = await memberId(client, workspaceId, member)
  await client.request(RemoveMemberDocument, { input: { workspaceId, userId } })
  return { fact: { workspaceId, userId }, words: '' }
}

export async function leave(context: Context, named: string): Promise<Answer> {
  const { service, client, workspaceId } = await enter(context, named)
  const { user_info } = await validityOf(service.session)
  const userId = user_info?.sub ?? ''
  await client.request(RemoveMemberDocument, { input: { workspaceId, userId } })
  return { fact: { workspaceId, userId }, words: '' }
}
