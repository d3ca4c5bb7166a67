import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { v4, v7 } from 'uuid'
import type { ErrorCode } from '../../../src/runtime/errors.ts'
import { callByRest, type Inputs } from '../../contract/call.ts'
import { inputsOf } from '../../contract/contract.ts'
import {
  type Identity,
  identities,
  identityOf,
  type Row,
  rightfulOf,
  rows,
} from '../../support/authorization.ts'
import { World } from '../../support/authorization-world.ts'
import { found, put, ROOMY, UNHURRIED, workspaceKey } from '../../support/builders.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'
import { until } from '../../support/until.ts'
import { everything } from '../../support/wire.ts'

let t: TestApp
let world: World

beforeAll(async () => {
  t = await startApp({ ...UNHURRIED, PREVIEWS: 'true' })
  await t.limit({ ...ROOMY, maxFiles: null, maxFilesWorkspace: null, maxWorkspaceFolders: null })
  // Statements of background work would be counted as statements of a request.
  await t.app.worker.stop()
  world = new World(t)
})
afterAll(() => t.stop())

/** The arguments that name someone's things, and the kind of value by which they do. */
const naming: Record<string, 'id' | 'path' | 'token' | 'checksum'> = {
  id: 'id',
  workspace_id: 'id',
  file_id: 'id',
  user_id: 'id',
  invite_id: 'id',
  api_key_id: 'id',
  upload_id: 'id',
  session_id: 'id',
  identity_id: 'id',
  version_id: 'id',
  request_id: 'id',
  items: 'id',
  tag_id: 'id',
  add: 'id',
  remove: 'id',
  favourite_id: 'id',
  before: 'id',
  from_workspace_id: 'id',
  to_workspace_id: 'id',
  copy_id: 'id',
  path: 'path',
  entries: 'path',
  file: 'path',
  files: 'path',
  object: 'path',
  objects: 'path',
  source: 'path',
  parent_path: 'path',
  token: 'token',
  sharing_token: 'token',
  checksum: 'checksum',
}

/** New things and uploads do not exist yet. */
const makers = [
  'Mutation.createFolder path',
  'Mutation.createSharedFolder path',
  'Mutation.uploadFile file',
  'Mutation.uploadSharedFile file',
  'Mutation.uploadWorkspaceFile file',
]
/** Paths in a shared folder are tested in test/api/folder-share.test.ts. */
const below = [
  'Query.sharedEntries path',
  'Query.sharedDownload path',
  'Mutation.resolveShare path',
  'Mutation.resolveShare entries',
]
/** A link is accessible to every signed-in person who has it. */
const links = ['POST /api/share/save/{token}']
const names = (field: string, arg: string): boolean =>
  arg in naming && ![...makers, ...below].includes(`${field} ${arg}`)

/** The other arguments: options, new values and targets. */
const telling =
  'after allow_download asks_name body clear colour content content_md5 content_type crc32 cursor delete_user_data description destination direct direction duration email enabled expires_in filename first folder folder_name if_match kinds label last limit max_bytes max_downloads max_file_size max_files may_edit md5 message mode modified_at name notifies on_conflict order part part_number password paths plan_id prefer query recursive role scopes search send_email sha256 size slug sort title to version'.split(
    ' ',
  )

const argsOf = ({ rest }: Row): string[] => inputsOf(rest).map(({ name }) => name)

/** Every argument of every operation, by its name on the wire. */
const args = rows.flatMap(row => argsOf(row).map(arg => ({ field: row.field, arg })))

/** Modelled statements contain their values, and prepared statements contain placeholders. */
const withoutValues = (sql: string) =>
  sql.startsWith('Executing') ? sql.replaceAll(/'(?:[^'\\]|\\.|'')*'|\b\d+\b/g, '?') : sql

/** The last use of a key is written once in a while, whatever the request. */
const isOfTheCall = (sql: string): boolean => !sql.startsWith('UPDATE api_key SET last_used_at')

/** The response to a call, and its statements. */
async function outcomeOf({ rest }: Row, caller: Person, inputs: Inputs) {
  t.statements()
  const { status, text, response } = await callByRest(caller, rest, inputs)
  return {
    said: JSON.stringify([status, text]),
    statements: t.statements().filter(isOfTheCall).map(withoutValues),
    code: response?.code as ErrorCode | undefined,
  }
}

describe('Users without access cannot distinguish an existing thing from a missing one', () => {
  /**
   * Where the contract permits a difference: the codes for an existing and for a missing thing. A
   * token is secret, so its holder may learn about the thing.
   */
  const apart: Record<string, [ErrorCode, ErrorCode]> = {
    'DELETE /api/workspaces/delete': ['FORBIDDEN', 'WORKSPACE_NOT_FOUND'],
    'DELETE /api/workspaces/invites/reject': ['INVITE_NOT_FOR_YOU', 'INVITE_NOT_FOUND'],
    'POST /api/workspaces/invites/accept': ['INVITE_NOT_FOR_YOU', 'INVITE_NOT_FOUND'],
    'POST /api/share/revoke/{token}': ['FORBIDDEN', 'SHARE_NOT_FOUND'],
    'PATCH /api/share/{token}': ['FORBIDDEN', 'SHARE_NOT_FOUND'],
    'GET /api/d/private/{token}': ['FORBIDDEN', 'TOKEN_NOT_FOUND'],
    'GET /api/d/{token} (a direct share)': ['FORBIDDEN', 'SHARE_NOT_FOUND'],
    'POST /api/share/resolve/{token} (a direct share)': ['FORBIDDEN', 'SHARE_NOT_FOUND'],
    'GET /api/share/entries/{token} (a direct share)': ['FORBIDDEN', 'SHARE_NOT_FOUND'],
    'POST /api/share/save/{token} (a direct share)': ['FORBIDDEN', 'SHARE_NOT_FOUND'],
  }
  /** Other references to a thing: by an optional input, or a thing of another kind. */
  const named: Record<string, Inputs[]> = {
    'Query.fileTree': [{ path: 'secret' }],
    'Query.folders': [{ path: 'secret' }],
    'Query.workspaceDownload': [{}, { file_id: undefined, path: '/secret/plan.txt' }],
    'Query.workspaceFileTree': [{ path: '/secret' }],
    'Query.fileInfo': [{}, { file_id: undefined, path: 'secret/plan.txt' }],
    'Query.workspaceFileInfo': [{}, { file_id: undefined, path: '/secret/plan.txt' }],
    'Query.versions': [{}, { file_id: undefined, path: 'secret/plan.txt' }],
    'Query.workspaceVersions': [{}, { file_id: undefined, path: '/secret/plan.txt' }],
    'Mutation.createWorkspaceFolder': [{ parent_path: '/secret' }],
    'Mutation.deleteWorkspaceFile': [{}, { file_id: undefined, path: '/secret/plan.txt' }],
    'Mutation.moveWorkspaceFile': [{}, { file_id: undefined, source: '/secret/plan.txt' }],
  }

  /**
   * Users without a right to the owner's things, and users who look for these in a workspace of
   * their own.
   */
  let strangers: [string, Person][]
  let neighbours: [string, Person][]
  let neighbouring: string
  const tried = new Set<string>()

  beforeAll(async () => {
    // A key belongs to its workspace even after its creator was removed.
    const outside = ({ via, who, role, dead, elsewhere }: Identity) =>
      via !== 'nothing' &&
      !dead &&
      (elsewhere || (who === 'stranger' && role === null && via !== 'workspace key'))
    strangers = await Promise.all(
      identities
        .filter(outside)
        .map(async i => [i.title, await world.callerOf(i, null)] as [string, Person]),
    )
    const neighbour = await t.signIn('neighbour')
    neighbouring = await found(neighbour)
    const { caller } = await workspaceKey(t, neighbour, neighbouring)
    neighbours = [
      ['owner of another workspace', neighbour],
      ['key of it', caller],
    ]
    const owner = await world.callerOf(identityOf('owner'), null)
    const { workspace_id } = await world.inputsOf(rowOf('Query.workspaceQuota'), owner)
    await owner.upload('secret/plan.txt', 'x')
    await put(owner, String(workspace_id), '/secret/plan.txt')
    // The first use of a key is written a moment later.
    for (const [, person] of [...strangers, ...neighbours])
      await person.rest('GET', '/auth/is_valid')
    const unused = `SELECT k.id FROM api_key k WHERE k.last_used_at IS NULL`
    await until(async () => (await t.app.db.rows(unused)).length === 0)
  })

  const rowOf = (field: string): Row => {
    const row = rows.find(r => r.field === field)
    if (!row) throw new Error(`There is no ${field}.`)
    return row
  }

  /** References to another, missing thing, and references that are always invalid. */
  function missing(
    { field }: Row,
    name: string,
    value: string,
  ): { alike: string; unlike: string[] } {
    switch (naming[name]) {
      case 'id':
        return { alike: v7(), unlike: [v4(), 'nonsense', '🦊'] }
      case 'path':
        return { alike: value.replaceAll(/[a-z]/g, 'q'), unlike: [] }
      case 'checksum':
        return { alike: [...value].reverse().join(''), unlike: ['nonsense'] }
      default: {
        const forged = [...value].reverse().join('')
        if (/invite/i.test(field)) return { alike: forged, unlike: [] }
        // Only the service can create these, so it recognizes a forged one without a statement.
        return field === 'Query.privateDownload'
          ? { alike: forged, unlike: ['nonsense'] }
          : { alike: t.app.services.shares.tokenOf(v7()), unlike: [forged] }
      }
    }
  }

  const inPlace = (inputs: Inputs, name: string, value: string): Inputs => ({
    ...inputs,
    [name]: Array.isArray(inputs[name]) ? [value] : value,
  })

  it.each(
    rows
      .filter(
        row =>
          row.access !== 'public' &&
          !links.includes(row.title) &&
          argsOf(row).some(arg => names(row.field, arg)),
      )
      .map(row => [row.title, row] as const),
  )('%s', async (title, row) => {
    const owner = await world.callerOf(identityOf('owner'), null)
    for (const more of named[row.field] ?? [{}]) {
      const inputs: Inputs = { ...(await world.inputsOf(row, owner)), ...more }
      for (const [name, given] of Object.entries(inputs)) {
        const value = Array.isArray(given) ? given[0] : given
        if (!names(row.field, name) || typeof value !== 'string') continue
        tried.add(`${row.field} ${name}`)
        const { alike, unlike } = missing(row, name, value)
        const isInside = 'workspace_id' in inputs && name !== 'workspace_id'
        // Operators may see everything that they ask about.
        const outsiders =
          row.access === 'operator' ? strangers.filter(([who]) => who !== 'operator') : strangers
        for (const [who, caller] of isInside ? [...outsiders, ...neighbours] : outsiders) {
          const own = neighbours.some(([title]) => title === who)
            ? { ...inputs, workspace_id: neighbouring }
            : inputs
          const look = async (it: string) => {
            const outcome = await outcomeOf(row, caller, inPlace(own, name, it))
            return { ...outcome, said: outcome.said.replaceAll(it, 'it') }
          }
          const foreign = await look(value)
          const codes = apart[title]
          if (codes) {
            if (who === 'somebody else')
              expect([foreign.code, (await look(alike)).code]).toEqual(codes)
            continue
          }
          expect([who, name, await look(alike)]).toEqual([who, name, foreign])
          for (const it of who === 'somebody else' ? unlike : [])
            expect([who, name, it, (await look(it)).said]).toEqual([who, name, it, foreign.said])
        }
      }
    }
  })

  it('whichever argument names the thing', () => {
    expect(args.filter(({ arg }) => !naming[arg] && !telling.includes(arg))).toEqual([])
    // A link is accessible to everyone who has it. test/api/file-request.test.ts covers the view of
    // other senders.
    const isLink = (field: string) =>
      field === 'Query.shareInfo' || /Request(ed|Info$)|enterRequest/i.test(field)
    const wanted = args.filter(({ field, arg }) => names(field, arg) && !isLink(field))
    expect(
      wanted.map(({ field, arg }) => `${field} ${arg}`).filter(what => !tried.has(what)),
    ).toEqual([])
  })

  it.each(['Mutation.shareFiles', 'Mutation.createInvite'])(
    'nor, with %s, an address with an account from an address without one',
    async field => {
      const [owner, known] = await Promise.all([
        world.callerOf(identityOf('owner'), null),
        t.signIn('known'),
      ])
      const inputs = await world.inputsOf(rowOf(field), owner)
      const look = async (email: string) => {
        const { said, ...rest } = await outcomeOf(rowOf(field), owner, { ...inputs, email })
        return {
          ...rest,
          said: said.replaceAll(email, 'it').replaceAll(/[\w-]{36,}|\d{4}-[\w:.-]+Z/g, 'new'),
        }
      }
      expect(await look('unheard@example.com')).toEqual(await look(known.email))
    },
  )
})

/** Mutations, with inputs that are valid for the owner. */
const writing = rows
  .filter(({ field }) => field.startsWith('Mutation.'))
  .map(row => [row.title, row] as const)
const lenient = writing.filter(([, { rest }]) => !rest.statuses.includes(400))

describe('Fields that no client may set are refused and change nothing', () => {
  const internal: Record<string, unknown> = {
    owner_id: v7(),
    user_id: v7(),
    blob_id: v7(),
    role: 'owner',
    size: 1,
    checksum: 'd41d8cd98f00b204e9800998ecf8427e',
    plan_id: 'enterprise',
    bucket_id: v7(),
    created_by: v7(),
    expires_at: '2099-01-01T00:00:00.000Z',
    status: 'active',
  }

  it.each(writing.filter(row => !lenient.includes(row)))('%s', async (_title, row) => {
    const own = row.consumes ? new World(t) : world
    const caller = await own.callerOf(rightfulOf(row), null)
    const inputs = await own.inputsOf(row, caller)
    const before = await everything(t)
    const names = Object.keys(internal).filter(name => !argsOf(row).includes(name))
    for (const name of names) {
      // The bytes of a part have no fields, and a GET has no body.
      if (row.rest.method === 'GET' || row.rest.in?.raw) continue
      const { status, response } = await byRest(row, caller, inputs, [name])
      expect([status, response.code, response.field]).toEqual([400, 'INVALID_INPUT', name])
    }
    expect(await everything(t)).toEqual(before)
    // Only the additional field was refused.
    expect((await callByRest(caller, row.rest, inputs)).status).toBeLessThan(400)
  })

  it.each(lenient)(
    'or ignored, where the operation ignores unknown input: %s',
    async (_title, row) => {
      const owner = await world.callerOf(identityOf('owner'), null)
      await world.inputsOf(row, owner)
      const before = await everything(t)
      const inputs = await world.inputsOf(row, owner)
      expect((await byRest(row, owner, inputs, Object.keys(internal))).status).toBe(200)
      // The call ended its target, and changed nothing else.
      const { share, upload_session, user, workspace, member } = await everything(t)
      expect({ ...before, share, upload_session, user, workspace, member }).toEqual(before)
    },
  )

  /** Calls with additional fields in the body or the form. */
  function byRest({ rest }: Row, caller: Person, inputs: Inputs, names: string[]) {
    const { method, path, in: sources = {} } = rest
    const source = sources.form ? 'form' : 'body'
    const given = Object.fromEntries(names.map(name => [name, internal[name]]))
    const all = { ...sources, [source]: [...(sources[source] ?? []), ...names] }
    return callByRest(caller, { method, path, in: all }, { ...inputs, ...given })
  }
})

describe('A workspace ID in one part of a request does not override the workspace named in another part', () => {
  const places = ['path', 'query', 'body', 'form'] as const
  type Ids = Partial<Record<(typeof places)[number], string[]>>
  const placeOf = ({ rest }: Row) =>
    places.find(place => rest.in?.[place]?.includes('workspace_id'))

  /** Calls with the ids of workspaces in these places, whether or not the route reads them. */
  function send({ rest }: Row, caller: Person, inputs: Inputs, ids: Ids) {
    const { method, path, in: sources = {} } = rest
    const all = (place: 'query' | 'body' | 'form') => [
      ...(ids[place] ?? []).map(id => ['workspace_id', id]),
      ...(sources[place] ?? [])
        .map(name => name.replace('?', ''))
        .flatMap(name => (name in inputs && name !== 'workspace_id' ? [[name, inputs[name]]] : [])),
    ]
    const query = new URLSearchParams(
      all('query').map(([name, value]) => [String(name), String(value)]),
    )
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
      ids.path?.[0] && name === 'workspace_id' ? ids.path[0] : String(inputs[name]),
    )
    const url = `${filled}?${query}`
    const file = Object.values(inputs).find(value => value instanceof File)
    if (sources.raw && file) return caller.rest(method, url, { body: file.stream() })
    if (!sources.form)
      return caller.rest(
        method,
        url,
        all('body').length > 0 ? { json: Object.fromEntries(all('body')) } : {},
      )
    const form = new FormData()
    for (const [name, value] of all('form'))
      form.append(String(name), value instanceof File ? value : String(value))
    return caller.rest(method, url, { form })
  }

  /** All rows about a workspace. */
  const remembered = (id: string) =>
    Promise.all(
      [
        'SELECT * FROM workspace WHERE id = ?',
        ...['member', 'invite', 'api_key', 'bucket'].map(
          table => `SELECT * FROM ${table} WHERE workspace_id = ?`,
        ),
        ...['entry', 'upload_session'].map(
          table =>
            `SELECT x.* FROM ${table} x JOIN bucket b ON b.id = x.bucket_id WHERE b.workspace_id = ?`,
        ),
      ].map(sql => t.app.db.rows(`${sql} ORDER BY 1, 2`, [id])),
    )

  it.each(rows.filter(placeOf).map(row => [row.title, row] as const))('%s', async (_title, row) => {
    const theirs = await world.inputsOf(row, await world.callerOf(identityOf('owner'), null))
    const foreign = String(theirs.workspace_id)
    const before = await remembered(foreign)
    const mine = new World(t)
    const caller = await mine.callerOf(identityOf('owner'), null)
    const place = placeOf(row) ?? 'path'
    const { method, in: sources = {}, statuses } = row.rest
    const content = sources.form ? ('form' as const) : ('body' as const)
    for (const other of method === 'GET' || sources.raw
      ? ['query' as const]
      : ['query' as const, content]) {
      if (other === place && place === 'body') continue
      const inputs = await mine.inputsOf(row, caller)
      const own = String(inputs.workspace_id)
      const ids = (declared: string, elsewhere: string): Ids =>
        other === place
          ? { [place]: [declared, elsewhere] }
          : { [place]: [declared], [other]: [elsewhere] }
      const outcome = async (given: Ids, things = inputs) => {
        const { status, response } = await send(row, caller, things, given)
        return [status < 400 ? 'yes' : response.code, response?.field]
      }
      // A query parameter is ignored if the route does not read it. A body with unknown or repeated
      // fields is refused.
      const strict = ['INVALID_INPUT', 'workspace_id']
      const isPassedOver = other === 'query' ? place !== 'query' : !statuses.includes(400)
      for (const things of [inputs, theirs])
        expect([other, await outcome(ids(foreign, own), things)]).toEqual([
          other,
          isPassedOver ? ['FORBIDDEN', undefined] : strict,
        ])
      expect([other, await outcome(ids(own, foreign))]).toEqual([
        other,
        isPassedOver ? ['yes', undefined] : strict,
      ])
    }
    expect(await remembered(foreign)).toEqual(before)
  })
})
