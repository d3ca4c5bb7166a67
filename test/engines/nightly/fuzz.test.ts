import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { restSchema } from '../../../schema/rest/index.ts'
import { type Route, routesOf } from '../../../src/rest/routes.ts'
import { found, join, put, ROOMY, UNHURRIED } from '../../support/builders.ts'
import { expectConsistent } from '../../support/consistency.ts'
import { bend, randomFrom, validRequest, written } from '../../support/fuzz.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'

declare const engine: 'sqlite' | 'mysql'

// Most faults are detected before any query, so the other engine gets only the first of the same
// requests.
const MUTATIONS = engine === 'sqlite' ? 100 : 40
const AT_ONCE = 10
const TOO_LONG = 5000

let t: TestApp
beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit(ROOMY)
})
afterAll(() => t.stop())

const routes = routesOf(restSchema).flatMap(route =>
  [route.method, ...(route.also ? [route.also] : [])].map(method => ({ ...route, method })),
)

/** Valid values for arguments by name, in a small world where each of them exists. */
async function worldOf(
  name: string,
  route: Route,
): Promise<{ who: Person; values: Record<string, unknown> }> {
  const [who, other] = [await t.signIn(name), await t.signIn(`${name}-friend`)]
  await who.upload('docs/a.txt', name)
  await who.rest('POST', '/api/folders', { json: { path: 'docs/b' } })
  const simple = {
    path: route.method === 'POST' ? 'docs/c' : 'docs',
    folder: 'uploads',
    file: 'docs/a.txt',
    object: 'docs/a.txt',
    objects: ['docs/a.txt'],
    files: ['docs/a.txt', 'docs/c.txt'],
    destination: 'new/place',
    parent_path: 'docs',
    folder_name: 'made',
    source: route.path.includes('folder') ? 'docs/b' : 'docs/a.txt',
    checksum: createHash('md5').update(name).digest('hex'),
    content: 'a note',
    email: 'new@example.com',
    role: 'viewer',
    name: 'a name',
    description: 'some words',
    duration: '7d',
    expires_in: '1w',
    password: 'secret',
    mode: 'inline',
    limit: 10,
    recursive: true,
    max_downloads: 3,
    send_email: true,
    delete_user_data: false,
    scopes: ['private_files:read'],
  }
  return {
    who,
    values: {
      ...simple,
      ...(await tokensOf(who, other, route)),
      ...(await workspaceOf(who, other, route)),
      ...(await uploadOf(who, route)),
    },
  }
}

/** A multipart upload of the caller in the drive of the route. */
async function uploadOf(who: Person, { path, method }: Route): Promise<Record<string, unknown>> {
  const [base] = /^.*\/files\/uploads/.exec(path) ?? []
  if (!base) return {}
  const part = 'the only part'
  const room = base.includes('workspace') ? await found(who, 'Uploads') : ''
  const json = { filename: 'in-parts.txt', size: part.length }
  const at = base.replace('{workspace_id}', room)
  const { response } = await who.rest('POST', at, { json })
  if (path.endsWith('complete'))
    await who.rest('PUT', `${at}/${response.upload_id}/parts/1`, { body: part })
  const md5 = createHash('md5').update(part)
  return {
    ...json,
    filename: 'new.txt',
    content_type: 'text/plain',
    folder: 'uploads',
    direct: method === 'POST',
    ...(room ? { workspace_id: room } : {}),
    upload_id: response.upload_id,
    part_number: 1,
    part,
    md5: md5.copy().digest('hex'),
    content_md5: md5.digest('base64'),
  }
}

/** Tokens of each kind, for the routes that take a token. */
async function tokensOf(
  who: Person,
  other: Person,
  { path }: Route,
): Promise<Record<string, unknown>> {
  if (path.startsWith('/api/d/private/')) {
    const own = await who.rest('POST', '/api/user/private/download_token?file=docs/a.txt')
    return { token: own.response.private_download_token }
  }
  if (/^\/api\/(d|share)\//.test(path)) {
    const json = { object: 'docs/a.txt', password: 'secret' }
    return {
      token: (await who.rest('POST', '/api/files/quick_share', { json })).response.sharing_token,
    }
  }
  if (path.endsWith('/mark_seen')) {
    await other.upload('theirs.txt', 'x')
    const json = { email: who.email, objects: ['theirs.txt'] }
    const share = await other.rest('POST', '/api/files/share', { json })
    return { sharing_token: share.response.sharing_info[0].sharing_token }
  }
  if (!path.startsWith('/api/api_keys/private/')) return {}
  const json = { name: 'k', scopes: ['private_files:read'] }
  const made = await who.rest('POST', '/api/api_keys/private/create', { json })
  return { api_key_id: made.response.api_key.id }
}

/** A workspace with a member, an invite, a key and a file, for the routes of workspaces. */
async function workspaceOf(
  who: Person,
  other: Person,
  { path }: Route,
): Promise<Record<string, unknown>> {
  if (!path.includes('workspace')) return {}
  const workspace_id = await found(who)
  await join(t, workspace_id, other, 'editor')
  const uploaded = await put(who, workspace_id, 'docs/a.txt')
  await put(who, workspace_id, 'docs/b/c.txt')
  const invite = (by: Person, workspace: string, email: string) =>
    by.rest('POST', '/api/workspaces/invites/create', {
      json: { workspace_id: workspace, email, role: 'editor' },
    })
  const sent = await invite(who, workspace_id, 'stranger@example.com')
  await invite(other, await found(other), who.email)
  const mine = await who.rest('GET', '/api/workspaces/invites/mine')
  const scopes = ['workspaces:files:read']
  const key = await who.rest('POST', `/api/api_keys/${workspace_id}/create`, {
    json: { name: 'k', scopes },
  })
  return {
    workspace_id,
    scopes,
    invite_id: sent.response.id,
    token: mine.response[0].token,
    user_id: other.userId,
    api_key_id: key.response.api_key.id,
    // A file is named by its id or its path, not by both.
    ...(/files\/(download|delete)$/.test(path)
      ? { file_id: uploaded.response[0].id, path: undefined }
      : {}),
  }
}

describe.each(routes.map((route, i) => [`${route.method} ${route.path}`, route, i] as const))(
  '%s',
  (_name, route, seed) => {
    it(`returns documented statuses for ${MUTATIONS} mutated requests, quickly`, async () => {
      const { who, values } = await worldOf(`fuzz${seed}`, route)
      const random = randomFrom(seed + 1)
      const valid = validRequest(route, values)
      const pending = Array.from({ length: MUTATIONS }, () =>
        written(route, bend(valid, random)),
      ).entries()
      const work = async () => {
        for (const [i, [url, options]] of pending) {
          const start = performance.now()
          // The harness fails for undocumented statuses and for responses without an envelope.
          const { status, text } = await who.rest(route.method, url, options)
          const request = `${i}: ${route.method} ${url.slice(0, 300)} ${String(options.body).slice(0, 300)}`
          // An instance accepts two concurrent uploads of one part, and refuses further ones with
          // 503.
          const isBusy = status === 503 && url.includes('/parts/')
          const isSoon = performance.now() - start < TOO_LONG
          const tells = /node_modules|\.[tj]s:\d|SELECT |SQLITE_|\bER_[A-Z]+|\/tmp\//.test(text)
          if ((status >= 500 && !isBusy) || !isSoon || tells)
            throw new Error(`${request} returned ${status}: ${text.slice(0, 1000)}`)
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work))
    })
  },
)

describe('After all mutated requests', () => {
  it('the log has no unexpected errors', () => expect(t.failures().slice(0, 5)).toEqual([]))

  it('database and store agree', () => expectConsistent(t))
})
