import { randomInt } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import sharp from 'sharp'
import { pdf } from './documents.ts'
import { FFMPEG, testVideo } from './ffmpeg.ts'
import type { Person } from './harness.ts'
import { until } from './until.ts'
import type { UploadSite } from './upload-site.ts'

const WORKERS = 3

/**
 * The maximum number of waiting contents. The next kill always meets some of them, and some are
 * left after the last kill.
 */
const MOST_WAITING = 10

/** The results of the drill. */
export interface KilledPreviews {
  /** Kills of instances. */
  kills: number
  /** Kills of preview processes. */
  poolKills: number
  uploads: number
  deletions: number
  made: number
  /** Contents whose preview process was killed three times. */
  crashed: number
}

/** The preview processes of a process, including those of ffmpeg. */
function poolOf(pid: number): number[] {
  const statusOf = (id: string) => readFileSync(`/proc/${id}/status`, 'latin1')
  return readdirSync('/proc')
    .filter(id => /^\d+$/.test(id))
    .filter(id => {
      try {
        if (!new RegExp(`^PPid:\\s+${pid}$`, 'm').test(statusOf(id))) return false
        return /derive\/process\.|ffmpeg/.test(readFileSync(`/proc/${id}/cmdline`, 'latin1'))
      } catch {
        return false
      }
    })
    .map(Number)
}

function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}

/** Contents of several kinds with slow previews. Contents sometimes repeat. */
async function contents(): Promise<() => Promise<{ name: string; type: string; bytes: Buffer }>> {
  const noise = { type: 'gaussian', mean: 120, sigma: 40 } as const
  const photo = await sharp({
    create: { width: 1800, height: 1200, channels: 3, background: '#357', noise },
  })
    .jpeg()
    .toBuffer()
  const film = FFMPEG === 'false' ? undefined : await testVideo('mp4', '1280x720')
  let serial = 0
  return async () => {
    const kind = randomInt(8)
    const mark = Buffer.from(`${randomInt(4) === 0 ? 'again' : serial++}`)
    if (kind === 0)
      return { name: 'pdf', type: 'application/pdf', bytes: pdf([`0 0 ${serial++} 99 re f`]) }
    // Decoders ignore bytes after the end of a picture or video.
    if (kind === 1 && film)
      return {
        name: 'mp4',
        type: 'video/mp4',
        bytes: Buffer.concat([
          film,
          Buffer.from([0, 0, 0, 16]),
          Buffer.from('free'),
          Buffer.alloc(8, mark),
        ]),
      }
    return { name: 'jpg', type: 'image/jpeg', bytes: Buffer.concat([photo, mark]) }
  }
}

interface Row {
  name: string
  sha256: string | null
  state: string | null
  reason: string | null
}

/**
 * Kills instances and preview processes at random moments, while pictures, documents and videos are
 * uploaded and deleted. Finally checks that each content has its preview, rendered once, and that
 * the store contains nothing else.
 */
export async function killPreviews({
  site,
  kills,
  say,
}: {
  site: UploadSite
  kills: number
  say: (line: string) => void
}): Promise<KilledPreviews> {
  const { db } = site
  await db.Plan.update({ maxTotalStorageBytes: 2 ** 43, maxFiles: null }, { where: { id: 'free' } })
  const people: Person[] = []
  for (let place = 0; place < site.instances; place++) people.push(await site.alice(place))
  const counts: KilledPreviews = {
    kills: 0,
    poolKills: 0,
    uploads: 0,
    deletions: 0,
    made: 0,
    crashed: 0,
  }
  const next = await contents()
  const alice = () => people[randomInt(people.length)] as Person
  const names: string[] = []
  let [serial, over] = [0, false]

  const work = async () => {
    while (!over) {
      try {
        const waiting = await db.Job.count({ where: { kind: 'preview' } })
        if (waiting > MOST_WAITING || randomInt(5) === 0) {
          const [name] = names.splice(randomInt(Math.max(names.length, 1)), 1)
          if (
            name &&
            (await alice().rest('DELETE', `/api/files/delete?file=${name}`)).status === 200
          )
            counts.deletions++
          await sleep(50)
          continue
        }
        const { name: ending, type, bytes } = await next()
        const name = `${serial++}.${ending}`
        names.push(name)
        if ((await alice().upload(name, bytes, type)).status === 200) counts.uploads++
      } catch {
        // The instance was killed before it responded.
        await sleep(50)
      }
    }
  }
  const workers = Array.from({ length: WORKERS }, work)
  while (counts.kills < kills) {
    await sleep(randomInt(300, 2000))
    const place = randomInt(site.instances)
    if (randomInt(2) === 0) {
      for (const pid of poolOf(site.at(place).pid)) if (kill(pid)) counts.poolKills++
      continue
    }
    await site.end(place, 'SIGKILL')
    counts.kills++
    await site.start(place)
    people[place] = await site.alice(place)
    if (counts.kills % 10 === 0) say(JSON.stringify(counts))
  }
  over = true
  await Promise.all(workers)

  const read = () =>
    db.rows<Row>(
      'SELECT e.name, b.sha256, p.state, p.reason FROM entry e JOIN blobs b ON b.id = e.blob_id LEFT JOIN preview p ON p.digest = b.sha256',
    )
  // A listing requests previews that were given up.
  const query = `query ($after: String) { me { drive { entry(path: "") { ... on Folder { entries(first: 100, after: $after) {
    nodes { ... on File { id preview { state } } } pageInfo { endCursor } } } } } } }`
  interface Listed {
    me: { drive: { entry: { entries: { pageInfo: { endCursor: string | null } } } } }
  }
  const list = async () => {
    for (let after: string | null | undefined = null, page = 0; page === 0 || after; page++) {
      const { data }: { data?: Listed | null | undefined } = await alice().graphql<Listed>(query, {
        after,
      })
      if (!data) throw new Error('The files could not be listed.')
      after = data.me.drive.entry.entries.pageInfo.endCursor
    }
  }
  let rows: Row[] = []
  await until(
    async () => {
      await list()
      await db.run(
        "UPDATE outbox SET due_at = 0 WHERE kind = 'preview' AND last_error IS NOT NULL AND due_at > ?",
        [Date.now() + 3000],
      )
      rows = await read()
      return rows.every(({ state }) => state === 'made' || state === 'failed')
    },
    300_000,
    500,
  )
  const failed = rows.filter(({ state }) => state === 'failed')
  const others = failed.filter(({ reason }) => reason !== 'crashed')
  if (others.length > 0) throw new Error(`These have no preview: ${JSON.stringify(others)}`)
  counts.crashed = failed.length
  counts.made = rows.length - failed.length

  await site.expectHealed(120_000)
  const count = async (what: string) =>
    Number((await db.rows<{ n: number }>(`SELECT COUNT(*) AS n FROM ${what}`))[0]?.n)
  const [previews, contentsThere] = [
    await count("preview WHERE state = 'made'"),
    new Set(rows.filter(({ state }) => state === 'made').map(({ sha256 }) => sha256)).size,
  ]
  if (previews !== contentsThere)
    throw new Error(`There are ${previews} previews of ${contentsThere} contents.`)
  const expected = (await count('blobs b JOIN entry e ON e.blob_id = b.id')) + previews
  const objects = await count('blobs')
  if (objects !== expected) throw new Error(`There are ${objects} objects instead of ${expected}.`)
  return counts
}
