import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { hashSecret } from '../../../src/runtime/tokens.ts'
import { operatorService } from '../../../src/services/accounts/operator.ts'
import { found, join, privateKey, ROOMY, UNHURRIED, workspaceKey } from '../../support/builders.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'
import { doors } from '../../support/held-upload.ts'

let t: TestApp

beforeAll(async () => {
  // Tests pause uploads of one worker.
  t = await startApp({ ...UNHURRIED, WORKERS: '1' })
  await t.limit(ROOMY)
})
afterAll(() => t?.stop())

let people = 0
const person = (what: string) => t.signIn(`${what}${++people}`)

interface Scene {
  owner: Person
  person: Person
  workspaceId: string
  keyId: string
}

const must = async (answer: Promise<{ status: number; text: string }>) => {
  const { status, text } = await answer
  if (status !== 200) throw new Error(text)
}
const removedBy = (actor: Person, { workspaceId, person: { userId } }: Scene) =>
  must(
    actor.rest(
      'DELETE',
      `/api/workspaces/members/remove?workspace_id=${workspaceId}&user_id=${userId}`,
    ),
  )
const becomes = (role: string, { owner, workspaceId, person: { userId } }: Scene) =>
  must(
    owner.rest('PATCH', '/api/workspaces/members/role', {
      json: { workspace_id: workspaceId, user_id: userId, role },
    }),
  )
const suspended = ({ person: { email } }: Scene) => operatorService({ db: t.app.db }).suspend(email)
const deletesAccount = ({ person: who }: Scene) =>
  must(who.rest('DELETE', '/api/user/account/delete', { json: { delete_user_data: true } }))
const deletesKey = ({ person: who, workspaceId, keyId }: Scene) =>
  must(
    who.rest('DELETE', `/api/api_keys/${workspaceId || 'private'}/delete`, {
      json: { api_key_id: keyId },
    }),
  )
const expires = (table: string, column: string, value: string) =>
  t.app.db.run(`UPDATE ${table} SET expires_at = ? WHERE ${column} = ?`, [Date.now() - 1, value])
const sessionHash = (who: Person) =>
  hashSecret(who.cookie.replace('session_id=', '')).toString('hex')

interface End {
  how: string
  where: 'own files' | 'a workspace'
  by: 'session' | 'key'
  code: string
  end(scene: Scene): Promise<unknown>
}

const UNAUTHENTICATED = 'UNAUTHENTICATED'
const FORBIDDEN = 'FORBIDDEN'
const places = ['own files', 'a workspace'] as const
/** Every way in which the permission of an upload can end while its bytes arrive. */
const ends: End[] = places.flatMap(where => [
  {
    how: 'the session is signed out of',
    where,
    by: 'session',
    code: UNAUTHENTICATED,
    end: ({ person: who }) => must(who.rest('POST', '/auth/logout')),
  },
  {
    how: 'the session expires',
    where,
    by: 'session',
    code: UNAUTHENTICATED,
    end: ({ person: who }) => expires('session', 'hash', sessionHash(who)),
  },
  { how: 'the user is suspended', where, by: 'session', code: UNAUTHENTICATED, end: suspended },
  { how: 'the user is suspended', where, by: 'key', code: UNAUTHENTICATED, end: suspended },
  {
    how: 'the key expires',
    where,
    by: 'key',
    code: UNAUTHENTICATED,
    end: ({ keyId }) => expires('api_key', 'id', keyId),
  },
  { how: 'the key is deleted', where, by: 'key', code: UNAUTHENTICATED, end: deletesKey },
])
ends.push(
  {
    how: 'the account is deleted',
    where: 'a workspace',
    by: 'session',
    code: UNAUTHENTICATED,
    end: deletesAccount,
  },
  {
    how: 'the account is deleted',
    where: 'a workspace',
    by: 'key',
    code: UNAUTHENTICATED,
    end: deletesAccount,
  },
)
for (const by of ['session', 'key'] as const)
  ends.push(
    {
      how: 'the member is demoted',
      where: 'a workspace',
      by,
      code: FORBIDDEN,
      end: scene => becomes('viewer', scene),
    },
    {
      how: 'the member is removed',
      where: 'a workspace',
      by,
      code: FORBIDDEN,
      end: scene => removedBy(scene.owner, scene),
    },
  )

async function sceneOf({
  where,
  by,
}: Pick<End, 'where' | 'by'>): Promise<Scene & { caller: Person }> {
  const [owner, who] = await Promise.all([person('owner'), person('member')])
  const workspaceId = where === 'own files' ? '' : await found(owner)
  if (workspaceId) await join(t, workspaceId, who, 'admin')
  const key =
    by === 'session'
      ? undefined
      : await (workspaceId ? workspaceKey(t, who, workspaceId) : privateKey(t, who))
  return { owner, person: who, workspaceId, keyId: key?.id ?? '', caller: key?.caller ?? who }
}

/** The files and reservations in the storage area of a scene. */
async function contentOf({ workspaceId, person: { userId } }: Scene) {
  const [row] = await t.app.db.rows<{ bytes: number; files: number; reserved: number }>(
    'SELECT used_bytes AS bytes, used_files AS files, reserved_bytes AS reserved FROM bucket WHERE workspace_id = ? OR user_id = ?',
    workspaceId ? [workspaceId, ''] : ['', userId],
  )
  return row
}

describe.each(Object.entries(doors))('An upload by %s', (door, hold) => {
  it.each(places)('into %s is stored while its permission lasts', async where => {
    for (const by of ['session', 'key'] as const) {
      const scene = await sceneOf({ where, by })
      const upload = await hold(t, scene.caller, { workspaceId: scene.workspaceId, name: 'a.txt' })
      expect(await upload.finish()).toEqual({ status: 200, code: undefined })
      expect(await contentOf(scene)).toMatchObject({ files: 1, reserved: 0 })
    }
  })

  it.each(ends.map(each => [each.where, each.by, each.how, each] as const))(
    'into %s by %s is refused at the end when %s meanwhile',
    async (_where, _by, _how, each) => {
      const scene = await sceneOf(each)
      const upload = await hold(t, scene.caller, { workspaceId: scene.workspaceId, name: 'a.txt' })
      await each.end(scene)
      t.statements()
      const { status, code } = await upload.finish()
      // A key of a removed member is deleted.
      const isRemovedKey = each.how === 'the member is removed' && each.by === 'key'
      expect(code).toBe(isRemovedKey ? UNAUTHENTICATED : each.code)
      expect(status).toBe(door === 'a GraphQL form' ? 200 : code === FORBIDDEN ? 403 : 401)
      // The upload was accepted, and was refused when it was committed.
      expect(t.statements().filter(sql => sql.includes('used_files = used_files + 1'))).not.toEqual(
        [],
      )
      expect(await contentOf(scene)).toMatchObject({
        bytes: 0,
        files: 0,
        ...(door === 'the completion of parts' ? {} : { reserved: 0 }),
      })
    },
  )
})

describe('An invite', () => {
  /** A workspace with an admin who has invited someone. */
  async function invited(role = 'editor') {
    const [owner, sender, guest] = await Promise.all([
      person('owner'),
      person('sender'),
      person('guest'),
    ])
    const workspaceId = await found(owner)
    await join(t, workspaceId, sender, 'admin')
    const json = { workspace_id: workspaceId, email: guest.email, role }
    await must(sender.rest('POST', '/api/workspaces/invites/create', { json }))
    const [{ token }] = (await guest.rest('GET', '/api/workspaces/invites/mine')).response
    return { owner, person: sender, guest, workspaceId, keyId: '', token: token as string }
  }
  type Invited = Awaited<ReturnType<typeof invited>>

  const accept = (guest: Person, token: string) =>
    guest.rest('POST', '/api/workspaces/invites/accept', { json: { token } })
  const isMember = async ({ workspaceId, guest }: Invited) =>
    (
      await t.app.db.rows('SELECT role FROM member WHERE workspace_id = ? AND user_id = ?', [
        workspaceId,
        guest.userId,
      ])
    ).length > 0

  /**
   * The invite on every interface: lists, its page, the home page, the lists of the workspace, and
   * acceptance.
   */
  async function doorsOf({ owner, guest, workspaceId, token }: Invited) {
    const get = async (who: Person, path: string) => (await who.rest('GET', path)).response.length
    const graph = async (who: Person, query: string, names: string[]) => {
      const { data, errors } = await who.graphql<object>(query)
      // biome-ignore lint/suspicious/noExplicitAny: an answer of any shape
      const list = names.reduce((value: any, name) => value?.[name], data)
      if (!Array.isArray(list)) throw new Error(JSON.stringify(errors))
      return list.length
    }
    return {
      mine: await get(guest, '/api/workspaces/invites/mine'),
      ofMe: await graph(guest, '{ me { invites { nodes { id } } } }', ['me', 'invites', 'nodes']),
      list: await get(owner, `/api/workspaces/invites?workspace_id=${workspaceId}`),
      workspace: await graph(
        owner,
        `{ workspace(id: "${workspaceId}") { invites { nodes { id } } } }`,
        ['workspace', 'invites', 'nodes'],
      ),
      page: (await guest.rest('GET', `/invite/${token}`, { headers: { accept: 'text/html' } }))
        .status,
      home: (await guest.rest('GET', '/', { headers: { accept: 'text/html' } })).text.includes(
        `/invite/${token}`,
      ),
    }
  }

  const ways: Record<string, (scene: Invited) => Promise<unknown>> = {
    'is removed': scene => removedBy(scene.owner, scene),
    leaves: scene => removedBy(scene.person, scene),
    'becomes an editor': scene => becomes('editor', scene),
    'becomes a viewer': scene => becomes('viewer', scene),
    'is suspended': suspended,
    'deletes the account': deletesAccount,
  }

  it('is visible on every interface while its sender may invite, and admits its recipient', async () => {
    const scene = await invited()
    expect(await doorsOf(scene)).toMatchObject({
      mine: 1,
      ofMe: 1,
      list: 1,
      workspace: 1,
      page: 200,
      home: true,
    })
    expect((await accept(scene.guest, scene.token)).status).toBe(200)
    expect(await isMember(scene)).toBe(true)
  })

  it.each(Object.entries(ways))('ends when its sender %s', async (_how, end) => {
    const scene = await invited()
    await end(scene)
    expect(await doorsOf(scene)).toMatchObject({
      mine: 0,
      ofMe: 0,
      list: 0,
      workspace: 0,
      page: 404,
      home: false,
    })
    const { status, response } = await accept(scene.guest, scene.token)
    expect([status, response.code]).toEqual([404, 'INVITE_NOT_FOUND'])
    expect(await isMember(scene)).toBe(false)
    expect(
      await t.app.db.rows('SELECT id FROM invite WHERE workspace_id = ?', [scene.workspaceId]),
    ).toEqual([])
  })

  it('does not return with its sender', async () => {
    const removed = await invited()
    await removedBy(removed.owner, removed)
    await join(t, removed.workspaceId, removed.person, 'owner')
    const held = await invited()
    await suspended(held)
    await operatorService({ db: t.app.db }).restore(held.person.email)
    for (const scene of [removed, held])
      expect((await accept(scene.guest, scene.token)).status).toBe(404)
  })

  // The state that a recipient meets who accepts at the moment when the right ends.
  it.each([
    ['is not a member', "DELETE FROM member WHERE user_id = ? AND role = 'admin'"],
    ['is an editor', "UPDATE member SET role = 'editor' WHERE user_id = ?"],
    ['is suspended', "UPDATE user SET status = 'suspended' WHERE id = ?"],
  ])('with a remaining row admits nobody when its sender %s', async (_what, sql) => {
    const scene = await invited()
    await t.app.db.run(sql, [scene.person.userId])
    expect(await doorsOf(scene)).toMatchObject({
      mine: 0,
      ofMe: 0,
      list: 0,
      workspace: 0,
      page: 404,
      home: false,
    })
    expect((await accept(scene.guest, scene.token)).status).toBe(404)
    expect(await isMember(scene)).toBe(false)
  })

  it('of an admin who becomes an owner remains, and so does one renewed by another admin', async () => {
    const risen = await invited()
    await becomes('owner', risen)
    const renewed = await invited()
    const json = { workspace_id: renewed.workspaceId, email: renewed.guest.email, role: 'viewer' }
    await must(renewed.owner.rest('POST', '/api/workspaces/invites/create', { json }))
    await removedBy(renewed.owner, renewed)
    for (const scene of [risen, renewed])
      expect((await accept(scene.guest, scene.token)).status).toBe(200)
  })

  it('is not sent by a member who loses the right meanwhile', async () => {
    const { owner, person: sender, guest, workspaceId } = await invited()
    const races = Array.from({ length: 8 }, async (_, i) => {
      const json = { workspace_id: workspaceId, email: `${i}-${guest.email}`, role: 'admin' }
      await sender.rest('POST', '/api/workspaces/invites/create', { json })
    })
    await removedBy(owner, { owner, person: sender, workspaceId, keyId: '' })
    await Promise.all(races)
    expect(
      await t.app.db.rows('SELECT id FROM invite WHERE workspace_id = ?', [workspaceId]),
    ).toEqual([])
  })
})

describe('A workspace key', () => {
  const tree = (caller: Person, workspaceId: string) =>
    caller.rest('GET', `/api/workspaces/${workspaceId}/files/tree`)

  it.each([
    ['was removed', (scene: Scene) => removedBy(scene.owner, scene)],
    ['left', (scene: Scene) => removedBy(scene.person, scene)],
  ])(
    'of a member who %s stays dead when they return; keys of others and private keys remain',
    async (_how, end) => {
      const [owner, member] = await Promise.all([person('owner'), person('member')])
      const workspaceId = await found(owner)
      const elsewhere = await found(member)
      await join(t, workspaceId, member, 'admin')
      const [key, ofOwner, ofElsewhere, own] = await Promise.all([
        workspaceKey(t, member, workspaceId),
        workspaceKey(t, owner, workspaceId),
        workspaceKey(t, member, elsewhere),
        privateKey(t, member),
      ])
      expect((await tree(key.caller, workspaceId)).status).toBe(200)
      await end({ owner, person: member, workspaceId, keyId: key.id })
      expect((await tree(key.caller, workspaceId)).status).toBe(401)
      await join(t, workspaceId, member, 'owner')
      expect((await tree(key.caller, workspaceId)).status).toBe(401)
      const { response } = await owner.rest('GET', `/api/api_keys/${workspaceId}/list`)
      expect(response.api_keys.map(({ id }: { id: string }) => id)).toEqual([ofOwner.id])
      expect((await tree(ofOwner.caller, workspaceId)).status).toBe(200)
      expect((await tree(ofElsewhere.caller, elsewhere)).status).toBe(200)
      expect((await own.caller.rest('GET', '/api/files/tree')).status).toBe(200)
    },
  )

  it('of a demoted member is limited, and regains its rights with the role', async () => {
    const [owner, member] = await Promise.all([person('owner'), person('member')])
    const workspaceId = await found(owner)
    await join(t, workspaceId, member, 'admin')
    const { id, caller } = await workspaceKey(t, member, workspaceId)
    const scene = { owner, person: member, workspaceId, keyId: id }
    const invites = () => caller.rest('GET', `/api/workspaces/invites?workspace_id=${workspaceId}`)
    expect((await invites()).status).toBe(200)
    await becomes('viewer', scene)
    expect([(await invites()).status, (await tree(caller, workspaceId)).status]).toEqual([403, 200])
    await becomes('admin', scene)
    expect((await invites()).status).toBe(200)
  })

  it('is not created by a member who is removed meanwhile', async () => {
    const [owner, member] = await Promise.all([person('owner'), person('member')])
    const workspaceId = await found(owner)
    await join(t, workspaceId, member, 'admin')
    const races = Array.from({ length: 8 }, async () => {
      const json = { name: 'a key', scopes: ['workspaces:files:read'] }
      await member.rest('POST', `/api/api_keys/${workspaceId}/create`, { json })
    })
    await removedBy(owner, { owner, person: member, workspaceId, keyId: '' })
    await Promise.all(races)
    expect(
      await t.app.db.rows('SELECT id FROM api_key WHERE workspace_id = ?', [workspaceId]),
    ).toEqual([])
  })
})
