import type { Client, Service } from '../client.ts'
import { Failure, isFailure } from '../failure.ts'
import { workspaceId } from '../find-place.ts'
import {
  ChangeRoleDocument,
  CreateWorkspaceDocument,
  DeleteWorkspaceDocument,
  MembersDocument,
  RemoveMemberDocument,
  UpdateWorkspaceDocument,
  WorkspaceDocument,
  type WorkspaceRowFragment,
  WorkspacesDocument,
} from '../generated.ts'
import { allPages } from '../pages.ts'
import { ask } from '../prompt.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { table, when } from '../table.ts'
import { plain } from '../text.ts'
import { type MemberRole, roleOf, wordOf } from '../words.ts'
import { validityOf } from './login.ts'

/** A workspace by slug or id, with a client for it. */
export async function enter(
  context: Context,
  named: string,
): Promise<{ service: Service; client: Client; workspaceId: string }> {
  const service = await open(context)
  const id = await workspaceId(service, named)
  return { service, client: service.workspace(id), workspaceId: id }
}

/** The printed form of a workspace. */
export const shown = ({ id, role, ...workspace }: WorkspaceRowFragment) => ({
  workspaceId: id,
  ...workspace,
  role: wordOf(role),
})

/** The workspaces that the stored credentials can list. */
export async function workspacesOf(
  service: Service,
  notice: (line: string) => void,
): Promise<WorkspaceRowFragment[]> {
  const { session, workspaces } = service.login
  if (session?.kind === 'session')
    return allPages(
      async after => (await service.session.request(WorkspacesDocument, { after })).me.workspaces,
    )
  // A key can only see its own workspace.
  const clients =
    workspaces.length === 0 ? [service.session] : workspaces.map(({ id }) => service.workspace(id))
  const answers = await Promise.all(
    clients.map(async client => {
      try {
        return [(await client.request(WorkspaceDocument, {})).workspace]
      } catch (error) {
        if (clients.length === 1 || !isFailure(error, 'INSUFFICIENT_SCOPE', 'UNAUTHENTICATED'))
          throw error
        notice(`One key cannot read its workspace: ${error.message}`)
        return []
      }
    }),
  )
  return answers.flat()
}

export async function list(context: Context): Promise<Answer> {
  const workspaces = (await workspacesOf(await open(context), context.notice)).map(shown)
  const rows = workspaces.map(w => [w.slug, w.name, w.role, when(w.createdAt), w.workspaceId])
  return {
    fact: { workspaces },
    words: rows.length > 0 ? table(['SLUG', 'NAME', 'ROLE', 'SINCE', 'ID'], rows) : '',
  }
}

export async function create(
  context: Context,
  name: string,
  slug: string | undefined,
): Promise<Answer> {
  const { session } = await open(context)
  const { workspace } = await session.change(CreateWorkspaceDocument, { name, slug: slug ?? null })
  return { fact: { workspace: shown(workspace) }, words: plain(workspace.slug) }
}

export async function rename(
  context: Context,
  named: string,
  name: string,
  slug: string | undefined,
): Promise<Answer> {
  const { client, workspaceId } = await enter(context, named)
  const input = { workspace: workspaceId, name, slug: slug ?? null }
  const { workspace } = await client.change(UpdateWorkspaceDocument, input)
  return { fact: { workspace: shown(workspace) }, words: plain(workspace.slug) }
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
  await client.change(DeleteWorkspaceDocument, { workspace: workspaceId })
  return { fact: { workspaceId }, words: '' }
}

interface Member {
  /** Id of the membership. */
  id: string
  userId: string
  email: string
  name: string
  role: string
  joinedAt: string
}

async function membersOf(client: Client, workspace: string): Promise<Member[]> {
  const all = await allPages(
    async after => (await client.request(MembersDocument, { workspace, after })).workspace.members,
  )
  return all.map(({ id, role, joinedAt, person }) => ({
    id,
    userId: person.id,
    email: person.email,
    name: person.name,
    role: wordOf(role),
    joinedAt,
  }))
}

export async function members(context: Context, named: string): Promise<Answer> {
  const { client, workspaceId } = await enter(context, named)
  const all = await membersOf(client, workspaceId)
  const rows = all.map(m => [m.email, m.name, m.role, when(m.joinedAt)])
  const fact = { members: all.map(({ id: _, ...member }) => member) }
  return { fact, words: table(['E-MAIL', 'NAME', 'ROLE', 'SINCE'], rows) }
}

/**
 * A member by user id or email address.
 *
 * @throws MEMBER_NOT_FOUND
 */
async function findMember(client: Client, workspaceId: string, named: string): Promise<Member> {
  const isAddress = named.includes('@')
  const found = (await membersOf(client, workspaceId)).filter(({ userId, email }) =>
    isAddress ? email.toLowerCase() === named.toLowerCase() : userId === named,
  )
  const [first] = found
  if (first && found.length === 1) return first
  throw new Failure(
    'MEMBER_NOT_FOUND',
    first
      ? `Several members have the e-mail address ${named}. Use the id: satchel workspace members --json shows it.`
      : `There is no member with the ${isAddress ? 'e-mail address' : 'id'} ${named}.`,
  )
}

export async function role(
  context: Context,
  named: string,
  member: string,
  to: MemberRole,
): Promise<Answer> {
  const { client, workspaceId } = await enter(context, named)
  const { id, userId } = await findMember(client, workspaceId, member)
  await client.change(ChangeRoleDocument, { member: id, role: roleOf(to) })
  return { fact: { member: { userId, role: to } }, words: '' }
}

export async function dismiss(context: Context, named: string, member: string): Promise<Answer> {
  const { client, workspaceId } = await enter(context, named)
  const { id, userId } = await findMember(client, workspaceId, member)
  await client.change(RemoveMemberDocument, { member: id })
  return { fact: { workspaceId, userId }, words: '' }
}

export async function leave(context: Context, named: string): Promise<Answer> {
  const { service, client, workspaceId } = await enter(context, named)
  const { user_info } = await validityOf(service.session)
  const { id, userId } = await findMember(client, workspaceId, user_info?.sub ?? '')
  await client.change(RemoveMemberDocument, { member: id })
  return { fact: { workspaceId, userId }, words: '' }
}
