import { randomUUID } from 'node:crypto'
import type { Role } from '../../src/access/roles.ts'
import { privateScopes, workspaceScopes } from '../../src/access/scopes.ts'
import type { Person, TestApp } from './harness.ts'

/** Creates a workspace by its route. Returns its id. */
export async function found(owner: Person, name = 'Garden'): Promise<string> {
  const { status, response, text } = await owner.rest('POST', '/api/workspaces/create', {
    json: { name },
  })
  if (status !== 200) throw new Error(text)
  return response.workspace.workspace_id
}

/** The drive id of a workspace or of a person. */
export async function driveOf(person: Person, workspaceId?: string): Promise<string> {
  interface Data {
    holder: { drive: { id: string } }
  }
  const { data, errors } = workspaceId
    ? await person.graphql<Data>(
        'query ($id: ID!) { holder: workspace(id: $id) { drive { id } } }',
        {
          id: workspaceId,
        },
      )
    : await person.graphql<Data>('{ holder: me { drive { id } } }')
  if (!data) throw new Error(JSON.stringify(errors))
  return data.holder.drive.id
}

/** Adds a member or changes a role in the database, without an invite. */
export async function join(
  { app: { db } }: TestApp,
  workspaceId: string,
  { userId }: Person,
  role: Role,
): Promise<void> {
  await db.run('DELETE FROM member WHERE workspace_id = ? AND user_id = ?', [workspaceId, userId])
  // Later members must be listed later, even within one millisecond.
  const latest = '(SELECT MAX(joined_at) AS at FROM member WHERE workspace_id = ?)'
  await db.run(
    `INSERT INTO member (workspace_id, user_id, role, joined_at)
     SELECT ?, ?, ?, CASE WHEN latest.at >= ? THEN latest.at + 1 ELSE ? END FROM ${latest} AS latest`,
    [workspaceId, userId, role, Date.now(), Date.now(), workspaceId],
  )
}

/** Ends a membership. */
export async function expel(
  { app: { db } }: TestApp,
  workspaceId: string,
  { userId }: Person,
): Promise<void> {
  await db.run('DELETE FROM member WHERE workspace_id = ? AND user_id = ?', [workspaceId, userId])
}

/** An API key, and a program that sends it. */
export interface Program {
  id: string
  key: string
  caller: Person
}

/** Creates a private key by its route, with all scopes by default. */
export const privateKey = (
  t: TestApp,
  person: Person,
  scopes: readonly string[] = privateScopes,
): Promise<Program> => makeKey(t, person, 'private', scopes)

/** Creates a workspace key by its route, with all scopes by default. */
export const workspaceKey = (
  t: TestApp,
  person: Person,
  workspaceId: string,
  scopes: readonly string[] = workspaceScopes,
): Promise<Program> => makeKey(t, person, workspaceId, scopes)

/** Adds an identity to a person. Returns its id. */
export async function anotherIdentity(
  { app }: Pick<TestApp, 'app'>,
  { userId, email }: Person,
): Promise<string> {
  const providerUserId = randomUUID()
  const profile = { provider: 'lab', providerUserId, email, emailVerified: false, name: 'Lab' }
  const more = { givenName: '', familyName: '', picture: '', locale: '' }
  await app.services.accounts.signIn({ ...profile, ...more }, { userId })
  const [identity] = await app.db.rows<{ id: string }>(
    'SELECT id FROM identity WHERE provider_user_id = ?',
    [providerUserId],
  )
  return identity?.id ?? ''
}

async function makeKey(
  t: TestApp,
  person: Person,
  where: string,
  scopes: readonly string[],
): Promise<Program> {
  const json = { name: 'a key', scopes }
  const { status, response, text } = await person.rest('POST', `/api/api_keys/${where}/create`, {
    json,
  })
  if (status !== 200) throw new Error(text)
  const { id, key } = response.api_key
  return { id, key, caller: t.withKey(key) }
}

/** Uploads into a workspace by its route. */
export function put(
  person: Person,
  workspaceId: string,
  path: string,
  bytes: string | Uint8Array = 'x',
  type = 'text/plain',
) {
  const cut = path.lastIndexOf('/')
  const form = new FormData()
  if (cut > 0) form.append('folder', path.slice(0, cut))
  form.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>], { type }), path.slice(cut + 1))
  return person.rest('POST', `/api/workspaces/${workspaceId}/files/upload`, { form })
}

/** Limits that are high enough for tests of other features. */
export const ROOMY = {
  maxUserWorkspaces: 10_000,
  maxUsersWorkspace: 10_000,
  maxPrivateApiKeys: 10_000,
  maxWorkspaceApiKeys: 10_000,
}

/** Settings without rate limits, for tests of other features. */
export const UNHURRIED = {
  RATE_API_KEYS: '1000000',
  RATE_DEVICE_LOGINS: '1000000',
  RATE_SHARING: '1000000',
  RATE_WORKSPACES: '1000000',
  RATE_INVITES: '1000000',
  RATE_EXPORTS: '1000000',
}
