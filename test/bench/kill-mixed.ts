/**
 * Kills and restarts the service at random moments of a mixed load, and finally compares everything
 * that was acknowledged with what is stored: `npm run bench:kill-mixed`. Options: --engine
 * sqlite|mysql (both by default), --kills 500.
 */
import { createHash, randomBytes, randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Person } from '../support/harness.ts'
import { newMysql } from '../support/mysql.ts'
import { openSite } from '../support/upload-site.ts'

const { values } = parseArgs({
  options: { engine: { type: 'string' }, kills: { type: 'string', default: '500' } },
})
const KiB = 1024
const PART = 256 * KiB
const WORKERS = 6

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex')

async function drill(title: string, databaseUrl: string): Promise<void> {
  const site = await openSite(
    { databaseUrl },
    { UPLOAD_PART_BYTES: String(PART), LOG_LEVEL: 'error' },
  )
  /**
   * The expected contents by name, or null for a deleted file. Unacknowledged changes are in
   * neither state.
   */
  const certain = new Map<string, string | null>()
  /** The possible contents, because somebody has sent them. */
  const sent = new Map<string, string>()
  const counts = { uploads: 0, completions: 0, deletions: 0, kills: 0 }
  let alice: Person = await site.alice(0)
  await site.db.Plan.update(
    { maxTotalStorageBytes: 2 ** 43, maxFileSizeBytes: 2 ** 43 },
    { where: { id: 'free' } },
  )
  let serial = 0

  async function whole(name: string, bytes: Buffer): Promise<void> {
    sent.set(name, md5(bytes))
    if ((await alice.upload(name, bytes)).status !== 200) return
    certain.set(name, md5(bytes))
    counts.uploads++
  }

  async function inParts(name: string, bytes: Buffer): Promise<void> {
    const begun = await alice.rest('POST', '/api/files/uploads', {
      json: { filename: name, size: bytes.length },
    })
    if (begun.status !== 200) return
    const at = `/api/files/uploads/${begun.response.upload_id}`
    sent.set(name, md5(bytes))
    // Parts are sent twice now and then. A replacement must leave the part intact.
    for (let n = 0; n * PART < bytes.length; n++)
      for (let again = 0; again <= (randomInt(4) === 0 ? 1 : 0); again++) {
        const body = bytes.subarray(n * PART, (n + 1) * PART)
        while (
          !(await alice.rest('PUT', `${at}/parts/${n + 1}`, { body }).then(
            a => a.status === 200,
            () => false,
          ))
        )
          await sleep(100)
      }
    const done = await alice.rest('POST', `${at}/complete`, { json: { md5: md5(bytes) } })
    if (done.status !== 200) return
    certain.set(name, md5(bytes))
    counts.completions++
  }

  async function remove(): Promise<void> {
    const names = [...certain].filter(([, sum]) => sum !== null).map(([name]) => name)
    const name = names[randomInt(names.length + 1)]
    if (name === undefined) return
    const sum = certain.get(name)
    certain.delete(name)
    if ((await alice.rest('DELETE', `/api/files/delete?file=${name}`)).status !== 200) return
    certain.set(name, null)
    if (sum) counts.deletions++
  }

  let over = false
  const work = async () => {
    while (!over) {
      const name = `f-${serial++}`
      const kind = randomInt(10)
      try {
        if (kind < 5) await whole(name, randomBytes(randomInt(1, 60 * KiB)))
        else if (kind < 6) await whole(name, randomBytes(randomInt(1, 6 * KiB) * KiB))
        else if (kind < 8) await inParts(name, randomBytes(randomInt(1, 4 * PART)))
        else await remove()
      } catch {
        // The service was killed before it responded.
        await sleep(50)
      }
    }
  }
  const workers = Array.from({ length: WORKERS }, work)
  while (counts.kills < Number(values.kills)) {
    await sleep(randomInt(20, 900))
    const place = randomInt(site.instances)
    await site.end(place, 'SIGKILL')
    counts.kills++
    await site.start(place)
    alice = await site.alice(randomInt(site.instances))
    if (counts.kills % 25 === 0) process.stdout.write(`${title}: ${JSON.stringify(counts)}\n`)
  }
  over = true
  await Promise.all(workers)
  await site.expectHealed()

  const rows = await site.db.rows<{ name: string; md5: string }>(
    'SELECT name, md5 FROM entry WHERE blob_id IS NOT NULL',
  )
  const there = new Map(rows.map(row => [row.name, row.md5]))
  const problems: string[] = []
  for (const [name, sum] of certain)
    if ((there.get(name) ?? null) !== sum) problems.push(`${name} is not as acknowledged`)
  for (const [name, sum] of there) {
    if (sent.get(name) !== sum) problems.push(`${name} is nothing that was sent`)
    const made = await alice.rest('POST', `/api/user/private/download_token?file=${name}`)
    const { headers } = await alice.rest(
      'GET',
      `/api/d/private/${made.response.private_download_token}`,
    )
    const path = new URL(headers.get('location') ?? '').pathname
    const bytes = new Uint8Array(await (await fetch(`${site.at(0).url}${path}`)).arrayBuffer())
    if (md5(bytes) !== sum) problems.push(`${name} has other bytes`)
  }
  await site.close()
  if (problems.length > 0) throw new Error(problems.slice(0, 20).join('\n'))
  process.stdout.write(
    `${title}: ${JSON.stringify(counts)}; ${there.size} files, all as acknowledged\n`,
  )
}

const engines: Record<string, () => Promise<void>> = {
  sqlite: () => drill('disk + SQLite', ''),
  async mysql() {
    const { url, drop } = await newMysql(process.env.MYSQL_URL || 'mysql://root@127.0.0.1:3306')
    try {
      await drill('disk + MariaDB, two instances', url)
    } finally {
      await drop()
    }
  },
}
for (const [name, run] of Object.entries(engines))
  if (!values.engine || values.engine === name) await run()
