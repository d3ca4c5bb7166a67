import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Db, Tx } from '../../../db/index.ts'
import { lockBucket, lockOpenBucket, settle } from '../../../db/queries/bucket.ts'
import { lockIdentity } from '../../../db/queries/identity.ts'
import { lockHolder } from '../../../db/queries/plan.ts'
import { lockShare, lockSharer } from '../../../db/queries/share.ts'
import { lockEditable } from '../../../db/queries/shared-drive.ts'
import { insertMove, isLeft } from '../../../db/queries/store-move.ts'
import { lockUser, lockUserWithAddress } from '../../../db/queries/user.ts'
import { lockForManager, lockMemberships, lockWorkspace } from '../../../db/queries/workspace.ts'
import { ROOMY, UNHURRIED } from '../../support/builders.ts'
import { expectConsistent } from '../../support/consistency.ts'
import { type GaleraCluster, missingForGalera, startGalera } from '../../support/galera.ts'
import {
  type Person,
  type RestAnswer,
  signInTo,
  startApp,
  type TestApp,
} from '../../support/harness.ts'
import { until } from '../../support/until.ts'

const withGalera = missingForGalera.length === 0 ? describe : describe.skip

withGalera('Two instances at two nodes of a Galera cluster', () => {
  let cluster: GaleraCluster
  let dir: string
  let near: TestApp
  let far: TestApp
  /** Alice on each of the two instances. */
  let alice: Person
  let aliceFar: Person

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'satchel-galera-blobs-'))
    cluster = await startGalera()
    const settings = {
      ...UNHURRIED,
      SECRET_KEY: randomBytes(32).toString('base64url'),
      BLOB_DIR: dir,
    }
    const start = (node: number) => startApp({ ...settings, DATABASE_URL: cluster.url(node) })
    // Both start together: one creates the tables, and the other waits.
    ;[near, far] = await Promise.all([start(0), start(1)])
    await near.limit(ROOMY)
    alice = await near.signIn('alice')
    aliceFar = await signInTo(far.app.db, far.url, 'alice')
  })
  afterAll(async () => {
    await near?.stop()
    await far?.stop()
    await cluster?.stop()
    rmSync(dir, { recursive: true, force: true })
  })

  const namesIn = async (who: Person, folder: string): Promise<string[]> => {
    const { status, response } = await who.rest('GET', `/api/files/tree?path=${folder}`)
    expect(status).toBe(200)
    return response.files.map(({ name }: { name: string }) => name).sort()
  }

  it('show each other written data immediately', async () => {
    for (let i = 0; i < 30; i++) {
      const [writer, reader] = i % 2 ? [alice, aliceFar] : [aliceFar, alice]
      expect((await writer.upload(`own/${i}.txt`, `${i}`)).status).toBe(200)
      expect(await namesIn(reader, 'own')).toEqual([`own/${i}.txt`])
      expect((await reader.rest('DELETE', `/api/files/delete?file=own/${i}.txt`)).status).toBe(200)
      expect(await namesIn(writer, 'own')).toEqual([])
    }
  })

  it('block each other from rows that a transaction locks but does not change', async () => {
    const { db } = near.app
    const { userId } = alice
    await alice.upload('shared.txt', 'x')
    const workspace = await alice.rest('POST', '/api/workspaces/create', { json: { name: 'Team' } })
    const shared = await alice.rest('POST', '/api/files/share', {
      json: { email: 'bob@example.com', objects: ['shared.txt'], may_edit: true },
    })
    expect([workspace.status, shared.status]).toEqual([200, 200])
    const workspaceId: string =
      workspace.response.workspace_id ?? workspace.response.workspace.workspace_id
    const share = await db.Share.findOne({ where: { userId }, raw: true })
    const bucket = await db.Bucket.findOne({ where: { userId }, raw: true })
    const session = await db.Session.findOne({ where: { userId }, raw: true })
    if (!share || !bucket || !session)
      throw new Error('The share, the drive or the session is missing.')
    const writer = { via: 'session', credentialId: session.id } as Parameters<
      typeof settle
    >[3]['caller']
    const locks: Record<string, (at: Db, tx: Tx) => Promise<unknown>> = {
      lockBucket: (at, tx) => lockBucket(at, bucket.id, tx),
      lockOpenBucket: (at, tx) => lockOpenBucket(at, bucket.id, tx),
      lockSharer: (at, tx) => lockSharer(at, userId, bucket.id, tx),
      lockUser: (at, tx) => lockUser(at, userId, tx),
      lockUserWithAddress: (at, tx) => lockUserWithAddress(at, alice.email, tx),
      lockIdentity: (at, tx) =>
        lockIdentity(at, { provider: 'test', providerUserId: alice.email }, tx),
      lockHolder: (at, tx) => lockHolder(at, 'user', userId, tx),
      lockWorkspace: (at, tx) => lockWorkspace(at, workspaceId, tx),
      lockForManager: (at, tx) => lockForManager(at, userId, workspaceId, tx),
      lockMemberships: (at, tx) => lockMemberships(at, userId, tx),
      lockShare: (at, tx) => lockShare(at, share.id, tx),
      lockEditable: (at, tx) =>
        lockEditable(
          at,
          { id: share.id, entryId: share.entryId, recipient: 'bob@example.com' },
          tx,
        ),
      isLeft: (at, tx) => isLeft(at, 0, tx),
      settle: (at, tx) =>
        settle(at, bucket.id, { reservedBytes: 0, size: 0 }, { caller: writer }, tx),
    }
    await insertMove(db, { number: 1, source: 'a', target: 'b', startedAt: 1, finishedAt: 1 })
    const count = "SELECT COUNT(*) AS n FROM event_log WHERE log_id LIKE 'probe%'"
    for (const [name, lock] of Object.entries(locks)) {
      // Each counts the rows of the other, so one of them must run first.
      const counted: number[] = []
      const held: boolean[] = []
      const race = (at: Db, i: number) =>
        at.transaction(async tx => {
          held[i] = Boolean(await lock(at, tx)) || name === 'lockWorkspace'
          counted[i] = Number((await at.row<{ n: number }>(count, [], tx))?.n)
          await sleep(100)
          await at.run(
            'INSERT INTO event_log (log_id, purged_seq) VALUES (?, 1)',
            [`probe-${i}`],
            tx,
          )
        })
      await Promise.all([near, far].map(({ app }, i) => race(app.db, i)))
      expect([name, held, [...counted].sort()]).toEqual([name, [true, true], [0, 1]])
      await db.run("DELETE FROM event_log WHERE log_id LIKE 'probe%'")
    }
    await db.run('DELETE FROM store_move')
    const { usedFiles, reservedFiles } = bucket
    await db.Bucket.update({ usedFiles, reservedFiles }, { where: { id: bucket.id } })
  })

  it('refuse a session that another instance has ended', async () => {
    const bob = await near.signIn('bob')
    const of = { where: { userId: bob.userId }, raw: true } as const
    const [bucket, session] = [
      await near.app.db.Bucket.findOne(of),
      await near.app.db.Session.findOne(of),
    ]
    const caller = { via: 'session', credentialId: session?.id ?? '' } as Parameters<
      typeof settle
    >[3]['caller']
    const settled: boolean[] = []
    await near.app.db.transaction(async tx => {
      settled.push(
        await settle(near.app.db, bucket?.id ?? '', { reservedBytes: 0, size: 0 }, { caller }, tx),
      )
      if (settled.length > 1) return
      const headers = { cookie: bob.cookie }
      expect((await fetch(`${far.url}/auth/logout`, { method: 'POST', headers })).status).toBe(200)
    })
    expect(settled).toEqual([true, false])
  })

  it('number the events of a drive without gaps while both change it', async () => {
    const carol = await near.signIn('carol')
    const carolFar = await signInTo(far.app.db, far.url, 'carol')
    const made: string[] = []
    const work = async (who: Person, of: string) => {
      for (let i = 0; i < 15; i++) {
        const name = `${of}-${i}.txt`
        expect(await patiently(() => who.upload(name, name))).toBe(200)
        if (i % 3) made.push(name)
        else
          expect(await patiently(() => who.rest('DELETE', `/api/files/delete?file=${name}`))).toBe(
            200,
          )
      }
    }
    await Promise.all([
      work(carol, 'a'),
      work(carolFar, 'b'),
      work(carol, 'c'),
      work(carolFar, 'd'),
    ])
    expect(await namesIn(carolFar, '')).toEqual(made.sort())
    const bucket = await near.app.db.Bucket.findOne({ where: { userId: carol.userId }, raw: true })
    const events = await far.app.db.rows<{ seq: number }>(
      'SELECT seq FROM event WHERE log_id = ? ORDER BY seq',
      [bucket?.id ?? ''],
    )
    expect(events.map(({ seq }) => Number(seq))).toEqual(events.map((_, i) => i + 1))
    expect(events).toHaveLength(80)
  })

  /** Retries like a client when the service asks for it. */
  async function patiently(ask: () => Promise<RestAnswer>): Promise<number> {
    for (;;) {
      const { status, headers } = await ask()
      if (status !== 503) return status
      await sleep(Number(headers.get('retry-after')) * 1000)
    }
  }

  it('switch to another node when their node dies, and switch back later', async () => {
    const [dead] = cluster.nodes
    const portOf = async () =>
      Number((await near.app.db.row<{ port: number }>('SELECT @@port AS port'))?.port)
    expect(await portOf()).toBe(dead?.port)
    const dave = await near.signIn('dave')
    let over = false
    const answers: number[] = []
    const asking = (async () => {
      for (let i = 0; !over; i++) answers.push(await patiently(() => dave.upload(`${i}.txt`, 'x')))
    })()
    await dead?.kill()
    await until(() => answers.length > 5)
    const during = answers.length
    await dead?.start()
    await until(async () => (await portOf()) === dead?.port, 30_000, 250)
    await until(() => answers.length > during + 5)
    over = true
    await asking
    // A commit without a response may have succeeded. Then the name is taken.
    expect(answers.filter(status => status !== 200 && status !== 409)).toEqual([])
    expect(await namesIn(dave, '')).toHaveLength(answers.length)
  })

  it('neither lose nor duplicate entries', async () => {
    for (const t of [near, far]) await t.settle()
    await expectConsistent(near)
  })
})
