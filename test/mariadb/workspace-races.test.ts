import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { Role } from '../../src/access/roles.ts'
import { closeWorkspace } from '../../src/services/workspaces/workspace.ts'
import {
  found,
  join,
  privateKey,
  put,
  ROOMY,
  UNHURRIED,
  workspaceKey,
} from '../support/builders.ts'
import { expectConsistent } from '../support/consistency.ts'
import { type Person, type RestAnswer, startApp, type TestApp } from '../support/harness.ts'
import { file, form, formType, head, openWire } from '../support/wire.ts'

let t: TestApp
let alice: Person
let bob: Person
let carol: Person
let workspace_id: string

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit(ROOMY)
  ;[alice, bob, carol] = await Promise.all([t.signIn('alice'), t.signIn('bob'), t.signIn('carol')])
})
afterAll(() => t.stop())

beforeEach(async () => {
  workspace_id = await found(alice)
})

/**
 * Whatever the outcome: every workspace has an owner, an owner is responsible for its limits, and
 * database and store agree.
 */
afterEach(async () => {
  const orphaned = await t.app.db.rows(
    `SELECT w.id FROM workspace w LEFT JOIN member m ON m.workspace_id = w.id AND m.user_id = w.owner_id
     WHERE m.role IS NULL OR m.role <> 'owner'`,
  )
  expect(orphaned).toEqual([])
  await expectConsistent(t)
  expect(t.failures()).toEqual([])
})

const ROUNDS = [1, 2, 3]
const invite = (email: string, role = 'editor', person = alice) =>
  person.rest('POST', '/api/workspaces/invites/create', { json: { workspace_id, email, role } })
const accept = (person: Person, token: string) =>
  person.rest('POST', '/api/workspaces/invites/accept', { json: { token } })
const changeRole = (person: Person, { userId: user_id }: Person, role: string) =>
  person.rest('PATCH', '/api/workspaces/members/role', { json: { workspace_id, user_id, role } })
const removeMember = (person: Person, { userId }: Person) =>
  person.rest(
    'DELETE',
    `/api/workspaces/members/remove?workspace_id=${workspace_id}&user_id=${userId}`,
  )
const deleteWorkspace = (person = alice) =>
  person.rest('DELETE', `/api/workspaces/delete?workspace_id=${workspace_id}`)
const mkdir = (person: Person, folder_name: string) =>
  person.rest('POST', `/api/workspaces/${workspace_id}/files/mkdir`, { json: { folder_name } })
const makeKey = (person = alice) =>
  person.rest('POST', `/api/api_keys/${workspace_id}/create`, {
    json: { name: 'a', scopes: ['workspaces:read'] },
  })
const quota = (person: Person) => person.rest('GET', `/api/workspaces/${workspace_id}/quota`)

const outcomes = (answers: RestAnswer[]) =>
  answers.map(({ status, response }) => response?.code ?? status).sort()
/** The responses to some concurrent requests. */
const atOnce = (...requests: (() => Promise<RestAnswer>)[]) =>
  Promise.all(requests.map(request => request()))

async function invited(person: Person, role = 'editor'): Promise<string> {
  await invite(person.email, role)
  const { response } = await person.rest('GET', '/api/workspaces/invites/mine')
  return response.find((i: { workspace_id: string }) => i.workspace_id === workspace_id).token
}
const rolesIn = async (): Promise<Record<string, Role>> => {
  const rows = await t.app.db.rows<{ email: string; role: Role }>(
    'SELECT u.email, m.role FROM member m JOIN user u ON u.id = m.user_id WHERE m.workspace_id = ?',
    [workspace_id],
  )
  return Object.fromEntries(
    rows.map(({ email, role }) => [email.replace('@example.com', ''), role]),
  )
}
const rowsLeft = async () => {
  const counts = await Promise.all(
    ['member', 'invite', 'api_key', 'bucket'].map(table =>
      t.app.db.rows(`SELECT * FROM ${table} WHERE workspace_id = ?`, [workspace_id]),
    ),
  )
  return counts.flat()
}

/**
 * An upload, by default into the workspace, whose second half is sent when the test calls for it.
 */
async function heldUpload(
  person: Person,
  credential: Record<string, string> = {},
  path = `/api/workspaces/${workspace_id}/files/upload`,
) {
  const bytes = form([file('held.bin', 'x'.repeat(200_000))])
  const wire = await openWire(t.url)
  const headers = { 'content-type': formType, 'content-length': bytes.length, ...credential }
  await wire.send(head(person, `POST ${path}`, headers))
  await wire.send(bytes.subarray(0, 100_000))
  // It has begun once its caller and its route have been looked up.
  while (t.app.gateway.running === 0) await new Promise(resolve => setTimeout(resolve, 5))
  await new Promise(resolve => setTimeout(resolve, 100))
  return {
    async finish() {
      await wire.send(bytes.subarray(100_000))
      const answer = await wire.answer()
      wire.socket.destroy()
      return answer
    },
  }
}

describe('One invite', () => {
  it.each(ROUNDS)('that is accepted ten times at once creates one member (round %i)', async () => {
    const token = await invited(bob)
    const answers = await Promise.all(Array.from({ length: 10 }, () => accept(bob, token)))
    const [won, ...others] = outcomes(answers)
    expect(won).toBe(200)
    for (const code of others) expect(['INVITE_NOT_FOUND', 'ALREADY_A_MEMBER']).toContain(code)
    expect(await rolesIn()).toEqual({ alice: 'owner', bob: 'editor' })
    expect((await quota(bob)).response.member_count).toBe(2)
  })

  it.each(ROUNDS)(
    'that is accepted while it is withdrawn or rejected has one of the two outcomes (round %i)',
    async () => {
      const token = await invited(bob)
      const [pending] = (
        await alice.rest('GET', `/api/workspaces/invites?workspace_id=${workspace_id}`)
      ).response
      const ended = `/api/workspaces/invites/delete?workspace_id=${workspace_id}&invite_id=${pending.id}`
      const [accepted, withdrawn, rejected] = await atOnce(
        () => accept(bob, token),
        () => alice.rest('DELETE', ended),
        () => bob.rest('DELETE', `/api/workspaces/invites/reject?token=${token}`),
      )
      const isMember = 'bob' in (await rolesIn())
      expect(accepted?.response.code ?? 200).toBe(isMember ? 200 : 'INVITE_NOT_FOUND')
      if (isMember) expect(withdrawn?.response.code).toBe('INVITE_NOT_FOUND')
      expect([200, 'INVITE_NOT_FOUND']).toContain(rejected?.response?.code ?? 200)
      expect(
        await t.app.db.rows('SELECT id FROM invite WHERE workspace_id = ?', [workspace_id]),
      ).toEqual([])
    },
  )

  it.each(ROUNDS)(
    'that is accepted while it is renewed grants one of the two roles (round %i)',
    async () => {
      const token = await invited(bob, 'viewer')
      const [accepted, renewed] = await atOnce(
        () => accept(bob, token),
        () => invite(bob.email, 'admin'),
      )
      expect([200, 'ALREADY_A_MEMBER']).toContain(renewed?.response.code ?? 200)
      expect(accepted?.status).toBe(200)
      expect(await rolesIn()).toEqual({ alice: 'owner', bob: accepted?.response.workspace.role })
      expect(accepted?.response.workspace.role).toBe(renewed?.status === 200 ? 'admin' : 'viewer')
    },
  )
})

describe('Owners', () => {
  it.each(ROUNDS)('who are the last two and leave at once: one remains (round %i)', async () => {
    await join(t, workspace_id, bob, 'owner')
    await join(t, workspace_id, carol, 'viewer')
    const answers = await atOnce(
      () => removeMember(alice, alice),
      () => removeMember(bob, bob),
    )
    expect(outcomes(answers)).toEqual([200, 'LAST_OWNER'])
    expect(Object.values(await rolesIn()).sort()).toEqual(['owner', 'viewer'])
  })

  it.each(ROUNDS)(
    'who are the last two and give up the role, or take it from each other: one remains (round %i)',
    async () => {
      await join(t, workspace_id, bob, 'owner')
      expect(
        outcomes(
          await atOnce(
            () => changeRole(alice, alice, 'viewer'),
            () => changeRole(bob, bob, 'admin'),
          ),
        ),
      ).toEqual([200, 'LAST_OWNER'])
      await join(t, workspace_id, alice, 'owner')
      await join(t, workspace_id, bob, 'owner')
      const fight = await atOnce(
        () => changeRole(alice, bob, 'editor'),
        () => removeMember(bob, alice),
      )
      expect(outcomes(fight)).toEqual([200, 'FORBIDDEN'])
      expect(Object.values(await rolesIn()).filter(role => role === 'owner')).toHaveLength(1)
    },
  )

  it.each(ROUNDS)(
    'who are the last two and delete their accounts at once: one remains (round %i)',
    async round => {
      const [dora, erin] = await Promise.all([t.signIn(`dora${round}`), t.signIn(`erin${round}`)])
      workspace_id = await found(dora)
      await join(t, workspace_id, erin, 'owner')
      await join(t, workspace_id, carol, 'editor')
      const end = (person: Person) => () =>
        person.rest('DELETE', '/api/user/account/delete', { json: { delete_user_data: true } })
      const answers = await atOnce(end(dora), end(erin))
      expect(outcomes(answers)).toEqual([200, 'LAST_OWNER'])
      expect(Object.values(await rolesIn()).sort()).toEqual(['editor', 'owner'])
    },
  )

  it.each(ROUNDS)(
    'of whom the last deletes the account while somebody joins: no workspace is left without an owner (round %i)',
    async round => {
      const frank = await t.signIn(`frank${round}`)
      workspace_id = await found(frank)
      await invite(bob.email, 'viewer', frank)
      const { response } = await bob.rest('GET', '/api/workspaces/invites/mine')
      const { token } = response.find(
        (i: { workspace_id: string }) => i.workspace_id === workspace_id,
      )
      const [ended, accepted] = await atOnce(
        () =>
          frank.rest('DELETE', '/api/user/account/delete', { json: { delete_user_data: true } }),
        () => accept(bob, token),
      )
      const both = [
        ended?.response.code ?? ended?.status,
        accepted?.response.code ?? accepted?.status,
      ]
      expect([
        [200, 'INVITE_NOT_FOUND'],
        ['LAST_OWNER', 200],
      ]).toContainEqual(both)
    },
  )
})

describe('A workspace that is deleted', () => {
  it('during an upload keeps neither its row nor its bytes', async () => {
    await join(t, workspace_id, bob, 'editor')
    const upload = await heldUpload(bob)
    expect((await deleteWorkspace()).status).toBe(200)
    const answer = await upload.finish()
    expect([answer?.status, answer?.response.code]).toEqual([400, 'FOLDER_NOT_FOUND'])
    expect(await rowsLeft()).toEqual([])
  })

  it('and purged during an upload keeps neither its row nor its bytes', async () => {
    await put(alice, workspace_id, '/docs/a.txt')
    const upload = await heldUpload(alice)
    await deleteWorkspace()
    await t.settle()
    const answer = await upload.finish()
    expect([answer?.status, answer?.response.code]).toEqual([400, 'FOLDER_NOT_FOUND'])
  })

  it.each(ROUNDS)(
    'while everybody uses it is gone, and leaves nothing behind (round %i)',
    async () => {
      await join(t, workspace_id, bob, 'admin')
      await join(t, workspace_id, carol, 'editor')
      await put(alice, workspace_id, '/docs/a.txt', 'hello')
      const guest = await t.signIn('guest')
      const token = await invited(guest)
      const work: (() => Promise<RestAnswer>)[] = [
        () => invite('one@example.com'),
        () => invite('two@example.com', 'viewer', bob),
        () => makeKey(alice),
        () => makeKey(bob),
        () => mkdir(carol, 'new'),
        () => put(carol, workspace_id, '/docs/b.txt', 'there'),
        () => changeRole(bob, carol, 'viewer'),
        () => removeMember(carol, carol),
        () => accept(guest, token),
        () =>
          alice.rest('PATCH', '/api/workspaces/rename', { json: { workspace_id, name: 'Late' } }),
        () =>
          alice.rest('DELETE', `/api/workspaces/${workspace_id}/files/folder/delete?path=/docs`),
        () => quota(bob),
      ]
      const [gone, ...answers] = await atOnce(() => deleteWorkspace(), ...work, ...work.slice(0, 4))
      expect(gone?.status).toBe(200)
      expect(answers.map(({ status, text }) => (status < 500 ? '' : text)).filter(Boolean)).toEqual(
        [],
      )
      expect(await rowsLeft()).toEqual([])
      expect((await quota(alice)).status).toBe(403)
    },
  )

  it.each<[string, (guestToken: string, guest: Person) => Promise<RestAnswer>, string]>([
    ['invites somebody', () => invite('late@example.com'), 'FORBIDDEN'],
    ['makes a key', () => makeKey(), 'FORBIDDEN'],
    ['makes a folder', () => mkdir(alice, 'late'), 'FOLDER_NOT_FOUND'],
    ['uploads a file', () => put(alice, workspace_id, '/late.txt'), 'FOLDER_NOT_FOUND'],
    ['changes a role', () => changeRole(alice, bob, 'viewer'), 'FORBIDDEN'],
    ['removes a member', () => removeMember(alice, bob), 'FORBIDDEN'],
    ['deletes it', () => deleteWorkspace(), 'WORKSPACE_NOT_FOUND'],
    ['joins it', (token, guest) => accept(guest, token), 'INVITE_NOT_FOUND'],
  ])('after a request that %s was admitted rejects it', async (_what, call, code) => {
    const { db } = t.app
    await join(t, workspace_id, bob, 'editor')
    const guest = await t.signIn('guest')
    const token = await invited(guest)
    const [bucket] = await db.rows<{ bucketId: string; rootId: string }>(
      'SELECT id AS bucketId, root_id AS rootId FROM bucket WHERE workspace_id = ?',
      [workspace_id],
    )
    if (!bucket) throw new Error('It has no bucket.')
    const late = await db.transaction(async tx => {
      await db.rows(`SELECT id FROM bucket WHERE id = ?${db.forUpdate}`, [bucket.bucketId], tx)
      await db.rows(`SELECT id FROM workspace WHERE id = ?${db.forUpdate}`, [workspace_id], tx)
      const answer = call(token, guest)
      // It has checked the permission, and waits for the lock.
      await new Promise(resolve => setTimeout(resolve, 150))
      await closeWorkspace(db, workspace_id, bucket, tx)
      return { answer }
    })
    const { status, response } = await late.answer
    expect([status < 500, response.code]).toEqual([true, code])
    expect(await rowsLeft()).toEqual([])
  })

  it.each(ROUNDS)('twice at once is deleted once (round %i)', async () => {
    await join(t, workspace_id, bob, 'owner')
    await put(alice, workspace_id, '/docs/a.txt', 'hello')
    const answers = await atOnce(
      () => deleteWorkspace(alice),
      () => deleteWorkspace(bob),
      () => deleteWorkspace(alice),
    )
    expect(outcomes(answers)).toEqual([200, 'WORKSPACE_NOT_FOUND', 'WORKSPACE_NOT_FOUND'])
  })
})

describe('An account that is deleted', () => {
  it.each([true, false])(
    'during an upload keeps neither its row nor its bytes (with the data: %s)',
    async data => {
      const hanna = await t.signIn(`hanna-${data}`)
      await hanna.upload('kept.txt', 'kept')
      const upload = await heldUpload(hanna, {}, '/api/files/upload')
      const json = { delete_user_data: data }
      expect((await hanna.rest('DELETE', '/api/user/account/delete', { json })).status).toBe(200)
      const answer = await upload.finish()
      expect([answer?.status, answer?.response.code]).toEqual([400, 'FOLDER_NOT_FOUND'])
      await t.settle()
      const { objects } = (await (await t.signIn(hanna.email)).rest('GET', '/api/user/bucket'))
        .response.bucket_data
      expect(objects.map((object: { name: string }) => object.name)).toEqual(
        data ? [] : ['kept.txt'],
      )
    },
  )

  it.each(ROUNDS)(
    'while it creates workspaces and keys deletes those as well (round %i)',
    async round => {
      const greta = await t.signIn(`greta${round}`)
      const key = { name: 'a', scopes: ['private_files:read'] }
      const work = Array.from({ length: 4 }, (_, i) => [
        () => greta.rest('POST', '/api/workspaces/create', { json: { name: `Workspace ${i}` } }),
        () => greta.rest('POST', '/api/api_keys/private/create', { json: key }),
      ]).flat()
      const [ended, ...answers] = await atOnce(
        () =>
          greta.rest('DELETE', '/api/user/account/delete', { json: { delete_user_data: true } }),
        ...work,
      )
      expect(ended?.status).toBe(200)
      for (const { status, response } of answers)
        expect([200, 401]).toContain(response.code ? status : 200)
      for (const [table, column] of [
        ['workspace', 'owner_id'],
        ['member', 'user_id'],
        ['api_key', 'created_by'],
        ['bucket', 'user_id'],
      ])
        expect(
          await t.app.db.rows(`SELECT * FROM ${table} WHERE ${column} = ?`, [greta.userId]),
        ).toEqual([])
    },
  )
})

describe('A role that changes', () => {
  it('during a write takes effect before the file is created', async () => {
    await join(t, workspace_id, bob, 'editor')
    const upload = await heldUpload(bob)
    await changeRole(alice, bob, 'viewer')
    expect((await upload.finish())?.status).toBe(403)
    expect((await put(bob, workspace_id, '/next.txt')).status).toBe(403)
    const { files } = (await bob.rest('GET', `/api/workspaces/${workspace_id}/files/tree`)).response
    expect(files).toEqual([])
  })

  it('repeatedly during writes: exactly the admitted files exist', async () => {
    await join(t, workspace_id, bob, 'editor')
    const flips = async () => {
      for (const role of ['viewer', 'editor', 'viewer', 'editor', 'viewer'])
        await changeRole(alice, bob, role)
    }
    const writes = Array.from({ length: 20 }, (_, i) => async () => {
      await new Promise(resolve => setTimeout(resolve, i * 3))
      return mkdir(bob, `folder ${i}`)
    })
    const [answers] = await Promise.all([atOnce(...writes), flips()])
    const made = answers.filter(({ status }) => status === 200).map(({ response }) => response.name)
    for (const { status } of answers) expect([200, 403]).toContain(status)
    const { folders } = (await alice.rest('GET', `/api/workspaces/${workspace_id}/files/tree`))
      .response
    expect(folders.map((folder: { name: string }) => folder.name).sort()).toEqual(made.sort())
    expect((await mkdir(bob, 'late')).status).toBe(403)
  })

  it.each(ROUNDS)(
    'while its holder uses it: a demoted admin appoints no more admins (round %i)',
    async () => {
      await join(t, workspace_id, bob, 'admin')
      await join(t, workspace_id, carol, 'viewer')
      const [demoted, promoted] = await atOnce(
        () => changeRole(alice, bob, 'viewer'),
        () => changeRole(bob, carol, 'admin'),
      )
      expect(demoted?.status).toBe(200)
      expect(await rolesIn()).toEqual({
        alice: 'owner',
        bob: 'viewer',
        carol: promoted?.status === 200 ? 'admin' : 'viewer',
      })
      expect((await changeRole(bob, carol, 'editor')).status).toBe(403)
    },
  )
})

describe('A key that is deleted', () => {
  it('during use rejects every later call', async () => {
    for (const where of ['private', workspace_id]) {
      const made =
        where === 'private'
          ? await privateKey(t, alice)
          : await workspaceKey(t, alice, workspace_id)
      let gone = false
      const use = async () => {
        const isGone = gone
        const answer =
          where === 'private'
            ? await made.caller.rest('GET', '/api/folders')
            : await quota(made.caller)
        return { isGone, status: answer.status }
      }
      const seen: { isGone: boolean; status: number }[] = []
      const user = async () => {
        for (let i = 0; i < 15; i++) seen.push(await use())
      }
      const end = async () => {
        await new Promise(resolve => setTimeout(resolve, 10))
        const json = { api_key_id: made.id }
        expect((await alice.rest('DELETE', `/api/api_keys/${where}/delete`, { json })).status).toBe(
          200,
        )
        gone = true
      }
      await Promise.all([user(), user(), end()])
      seen.push(await use())
      for (const { isGone, status } of seen) expect(isGone ? [401] : [200, 401]).toContain(status)
      expect(await t.app.db.rows('SELECT * FROM api_key WHERE id = ?', [made.id])).toEqual([])
    }
  })

  it('during an upload: the upload and the next call are rejected', async () => {
    const { caller, id, key } = await workspaceKey(t, alice, workspace_id)
    const upload = await heldUpload(t.anonymous, { 'x-api-key': key })
    await alice.rest('DELETE', `/api/api_keys/${workspace_id}/delete`, { json: { api_key_id: id } })
    expect((await upload.finish())?.status).toBe(401)
    expect((await quota(caller)).status).toBe(401)
  })

  it.each(ROUNDS)('ten times at once is deleted once (round %i)', async () => {
    const { id } = await workspaceKey(t, alice, workspace_id)
    const json = { api_key_id: id }
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        alice.rest('DELETE', `/api/api_keys/${workspace_id}/delete`, { json }),
      ),
    )
    expect(outcomes(answers)).toEqual([200, ...Array(9).fill('API_KEY_NOT_FOUND')])
  })
})
