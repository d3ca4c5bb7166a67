import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { MAX_COPIED } from '../../src/values/limits.ts'
import type { Person } from './harness.ts'
import { until } from './until.ts'
import type { UploadSite } from './upload-site.ts'

const LEVELS = 9
const WORKERS = 4

/** The results of the drill. */
export interface KilledCopies {
  kills: number
  /** Background copies, by outcome. */
  done: number
  failed: number
  cancelled: number
  /** Copies in one transaction. */
  small: number
  deletions: number
}

/**
 * Kills and restarts instances at random moments during a mix of large and small copies,
 * cancellations, and deletions that are purged immediately. Finally checks that all usage is exact,
 * that every remaining copy is complete, and that no bytes were added.
 */
export async function killCopies({
  site,
  kills,
  say,
}: {
  site: UploadSite
  kills: number
  say: (line: string) => void
}): Promise<KilledCopies> {
  const { db } = site
  await db.Plan.update(
    { maxTotalStorageBytes: 2 ** 43, maxFileSizeBytes: 2 ** 43, maxFiles: null, maxFolders: null },
    { where: { id: 'free' } },
  )
  let alice: Person = await site.alice(0)
  const counts: KilledCopies = {
    kills: 0,
    done: 0,
    failed: 0,
    cancelled: 0,
    small: 0,
    deletions: 0,
  }
  const post = (json: object) => alice.rest('POST', '/api/copies', { json })

  for (const name of ['a', 'b', 'c']) await alice.upload(`seed/${name}.txt`, `bytes of ${name}`)
  // Doubled until it is too large to be copied in one call.
  for (let i = 0; i < LEVELS; i++) {
    await post({ entries: ['seed'], folder: 'halves', name: `half ${i}` })
    await alice.rest('POST', '/api/folders/move', {
      json: { source: `halves/half ${i}`, destination: `seed/half ${i}` },
    })
  }
  const seed = { files: 3 * 2 ** LEVELS, folders: 2 ** LEVELS }
  if (seed.files + seed.folders <= MAX_COPIED) throw new Error('This is copied by one call.')
  const objects = async () =>
    Number((await db.rows<{ n: number }>('SELECT COUNT(*) AS n FROM blobs'))[0]?.n)
  const before = await objects()

  const inState = async (state: string) =>
    Number(
      (
        await db.rows<{ n: number }>('SELECT COUNT(*) AS n FROM entry_copy WHERE state = ?', [
          state,
        ])
      )[0]?.n,
    )
  let [serial, over] = [0, false]
  const begun: string[] = []
  const made: string[] = []
  const one = (list: string[]) => list[randomInt(Math.max(list.length, 1))]
  const work = async () => {
    while (!over) {
      const kind = randomInt(12)
      const name = `${kind < 4 ? 'large' : 'small'}-${serial++}`
      try {
        if (kind < 4) {
          if ((await inState('copying')) > 3) continue
          const { status, response } = await post({ entries: ['seed'], folder: 'copies', name })
          if (status === 202) begun.push(response.copy_id)
          made.push(name)
          await sleep(randomInt(400))
        } else if (kind < 7) {
          if ((await post({ entries: ['seed/half 3'], folder: 'copies', name })).status === 200)
            counts.small++
          made.push(name)
        } else if (kind < 8) {
          const id = one(begun)
          if (id) await alice.rest('DELETE', `/api/copies/${id}`)
        } else {
          const path = one(made)
          if (!path) continue
          const { status } = await alice.rest(
            'DELETE',
            `/api/folders?path=copies/${path}&recursive=true`,
          )
          if (status === 200) counts.deletions++
        }
      } catch {
        // The instance was killed before it responded.
        await sleep(50)
      }
    }
  }
  const workers = Array.from({ length: WORKERS }, work)
  await until(async () => begun.length > 0)
  while (counts.kills < kills) {
    await sleep(randomInt(50, 1200))
    const place = randomInt(site.instances)
    await site.end(place, 'SIGKILL')
    counts.kills++
    await site.start(place)
    alice = await site.alice(randomInt(site.instances))
    if (counts.kills % 25 === 0) say(JSON.stringify({ ...counts, begun: begun.length }))
  }
  over = true
  await Promise.all(workers)

  await until(async () => (await inState('copying')) === 0, 600_000, 500)
  // Each deletion of a large copy purges two thousand entries.
  await site.expectHealed(600_000)
  Object.assign(counts, {
    done: await inState('done'),
    failed: await inState('failed'),
    cancelled: await inState('cancelled'),
  })
  const parts = await db.rows<{ name: string; files: number; folders: number }>(
    "SELECT name, total_files AS files, total_folders AS folders FROM entry WHERE name LIKE 'large-%'",
  )
  const broken = parts.filter(
    ({ files, folders }) => Number(files) !== seed.files || Number(folders) !== seed.folders - 1,
  )
  if (broken.length > 0)
    throw new Error(`These copies are not whole: ${JSON.stringify(broken.slice(0, 5))}`)
  const after = await objects()
  if (after !== before) throw new Error(`There were ${before} objects, and now there are ${after}.`)
  return counts
}
