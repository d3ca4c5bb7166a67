import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { textKeyOf } from '../../db/queries/content-text.ts'
import { newDatabase, type Person } from '../support/harness.ts'
import { rounds } from '../support/rounds.ts'
import { until } from '../support/until.ts'
import { openSite, type UploadSite } from '../support/upload-site.ts'

declare const engine: 'sqlite' | 'mysql'

let database: Awaited<ReturnType<typeof newDatabase>>
let site: UploadSite

beforeAll(async () => {
  database = engine === 'mysql' ? await newDatabase() : { url: '', drop: async () => {} }
  const settings = {
    TRASH_DAYS: '0',
    VERSIONS_KEPT: '0',
    SEARCH_CONTENTS: 'on',
    DERIVE_PROCESSES: '1',
  }
  site = await openSite({ databaseUrl: database.url }, settings)
})
afterAll(async () => {
  await site.close()
  await database.drop()
})

/** Long enough that its words are written in several statements. */
const textOf = (i: number) =>
  `kowari${i} ${Array.from({ length: 900 }, (_, n) => `word${(n * 7 + i * 13) % 3000}`).join(' ')}`

const find = async (alice: Person, query: string): Promise<string[]> => {
  const { status, response } = await alice.rest('GET', `/api/search?query=${query}`)
  return status === 200 ? response.results.map(({ path }: { path: string }) => path) : []
}

it('Each text is indexed exactly once and deleted completely, however often the service is killed', async () => {
  const kills = rounds(2, 10)
  const there = new Map<number, string>()
  let next = 0
  for (let kill = 0; kill < kills; kill++) {
    const place = kill % site.instances
    const alice = await site.alice(place)
    for (let i = 0; i < 5; i++) {
      const path = `texts/${next}.txt`
      if ((await alice.upload(path, textOf(next), 'text/plain')).status === 200)
        there.set(next, path)
      next += 1
    }
    // From the second kill on, also while texts are being deleted.
    for (const [number, path] of [...there].slice(0, kill === 0 ? 0 : 3)) {
      const { status } = await alice.rest('DELETE', `/api/files/delete?file=${path}`)
      if (status === 200) there.delete(number)
    }
    await sleep(200 + Math.random() * 1500)
    await site.end(place, 'SIGKILL')
    await site.start(place)
  }
  const alice = await site.alice(0)
  const { db } = site
  // Jobs of a dead process are retried by themselves, but this test does not wait for that.
  await until(
    async () => {
      await db.run('UPDATE outbox SET due_at = 0 WHERE due_at > ?', [Date.now() + 3000])
      for (const [number, path] of there)
        if ((await find(alice, `kowari${number}%20`))[0] !== path) return false
      return true
    },
    90_000,
    500,
  )
  for (let number = 0; number < next; number++)
    expect(await find(alice, `kowari${number}%20`)).toEqual(
      there.has(number) ? [there.get(number)] : [],
    )
  const digests = [...there.keys()]
    .map(number => textKeyOf(createHash('sha256').update(textOf(number)).digest('hex'), 'text'))
    .sort()
  const texts = async () =>
    (await db.rows<{ digest: string }>('SELECT digest FROM content_text ORDER BY digest')).map(
      ({ digest }) => digest,
    )
  await until(async () => (await texts()).length === digests.length, 60_000, 250)
  expect(await texts()).toEqual(digests)
  await site.expectHealed(60_000)
}, 300_000)
