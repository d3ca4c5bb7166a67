import { hostname } from 'node:os'
import type { Service } from '../client.ts'
import { Failure } from '../failure.ts'
import { isId } from '../find-place.ts'
import { CreateKeyDocument, DeleteKeyDocument, WorkspaceDocument } from '../generated.ts'
import { send } from '../wire.ts'
import { privateWords, scopeOf, workspaceWords } from '../words.ts'

/** Data for mounting a folder by WebDAV. */
export interface Target {
  /** URL of the folder, with a trailing slash. */
  url: string
  key: string
  /** An API key issued for this mount. */
  madeKey: string | null
}

/** The slug of a workspace, which WebDAV paths use. */
async function slugOf(service: Service, id: string, named: string): Promise<string> {
  const known = service.login.workspaces.find(workspace => workspace.id === id)?.slug
  if (known) return known
  return isId(named)
    ? (await service.workspace(id).request(WorkspaceDocument, { id })).workspace.slug
    : named
}

/**
 * The stored key for a drive. With only a session, issues a key, because WebDAV accepts no cookies
 * and a mount outlives a session.
 *
 * @param workspace its id
 */
async function keyOf(service: Service, workspace: string | undefined, readOnly: boolean) {
  const { login } = service
  const own = login.workspaces.find(({ id }) => id === workspace)?.credential
  const credential = workspace === undefined ? login.personal : (own ?? login.session)
  if (credential?.kind === 'key') return { key: credential.secret, madeKey: null }
  const words: Record<string, string> = workspace === undefined ? privateWords : workspaceWords
  const levels = readOnly ? ['read'] : ['read', 'write', 'delete']
  const { apiKey, secret } = await service.session.change(CreateKeyDocument, {
    workspace: workspace ?? null,
    name: `Mount on ${hostname()}`.slice(0, 64),
    scopes: levels.map(level => scopeOf(workspace === undefined ? level : `files:${level}`, words)),
    description: null,
    expiresIn: null,
  })
  return { key: secret, madeKey: apiKey.id }
}

/** Deletes a key that was issued for a mount. */
export const deleteKey = async (service: Service, apiKey: string): Promise<void> => {
  await service.session.change(DeleteKeyDocument, { apiKey })
}

/** @throws the code of the service, NOT_FOUND, IS_A_FOLDER */
export async function targetOf(
  service: Service,
  {
    workspace,
    named,
    path,
    readOnly,
  }: { workspace: string | undefined; named: string; path: string; readOnly: boolean },
): Promise<Target> {
  const drive =
    workspace === undefined ? ['files'] : ['workspaces', await slugOf(service, workspace, named)]
  const names = [...drive, ...path.split('/').filter(name => name !== '')]
  const url = `${service.url}/dav/${names.map(encodeURIComponent).join('/')}/`
  const made = await keyOf(service, workspace, readOnly)
  try {
    await requireFolder(service, url, made.key)
  } catch (error) {
    if (made.madeKey) await deleteKey(service, made.madeKey).catch(() => {})
    throw error
  }
  return { url, ...made }
}

/** Checks that the mount will find the folder. */
async function requireFolder({ patience }: Service, url: string, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, depth: '0' }
  const answer = await send(url, { method: 'PROPFIND', headers, signal: patience.signal })
  const text = await answer.text()
  if (answer.status === 207) {
    if (/<\w+:collection\s*\/>/.test(text)) return
    throw new Failure('USAGE', 'This is a file. Mount the folder that it is in.')
  }
  const [, code = answer.status === 401 ? 'UNAUTHENTICATED' : 'BAD_ANSWER'] =
    /<S:code>(\w+)</.exec(text) ?? []
  const [
    ,
    said = `The service answered ${answer.status}: it may be older than WebDAV, or a proxy does not pass it.`,
  ] = /<S:message>([^<]*)</.exec(text) ?? []
  const hint = code === 'KEY_OUT_OF_BOUNDS' ? ' Sign in with a key of it: satchel login --key.' : ''
  throw new Failure(
    code,
    said.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&') + hint,
  )
}
