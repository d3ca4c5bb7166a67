/**
 * Archives compared with one file of the same size: their speed, their memory use, and the verdict
 * of programs that read archives. `npm run bench:zip -- --files 50000 --gib 10`, with `--engine
 * mysql` on MariaDB. Needs twice as much disk space.
 */
import { spawnSync } from 'node:child_process'
import { createWriteStream, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { crc32 } from 'node:zlib'
import { v7 as newId } from 'uuid'
import { Blob } from '../../db/models/blob.ts'
import { Entry, FILE, FOLDER } from '../../db/models/entry.ts'
import { inParts, insertion } from '../../db/queries/sql.ts'
import { openShelves } from '../../src/storage/files.ts'
import { hexOfCrc32 } from '../../src/upload-engine/crc32.ts'
import { MiB, startService } from './service.ts'

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '50000' },
    gib: { type: 'string', default: '10' },
    engine: { type: 'string', default: 'sqlite' },
    rounds: { type: 'string', default: '3' },
  },
})
const FILES_OF_FOLDER = 1000
const count = Number(values.files)
const size = Math.floor((Number(values.gib) * 1024 * MiB) / count)
const bench = await startService(values.engine === 'mysql' ? 'mysql' : 'sqlite', {
  DOWNLOADS: 'proxy',
})
const { db, bucketId, rootId, userId } = bench
const { pathOf } = openShelves(join(bench.dir, 'blobs', 'blobs'))
const print = (line: string) => process.stdout.write(`${line}\n`)
const stamps = { bucketId, createdBy: userId, createdAt: Date.now(), updatedAt: Date.now() }

/** Writes blobs and their rows without the service, which would sync each of them. */
async function place(
  files: { name: string; parentId: string; bytes: number }[],
  known: boolean,
): Promise<void> {
  const sums = new Map<number, string>()
  for (const part of inParts(files, 200)) {
    const rows = part.map(({ name, parentId, bytes }) => ({
      id: newId(),
      blobId: newId(),
      name,
      parentId,
      bytes,
    }))
    for (const { blobId, bytes } of rows) {
      const content = Buffer.alloc(bytes, 'Satchel ')
      if (!sums.has(bytes)) sums.set(bytes, hexOfCrc32(crc32(content)))
      await mkdir(dirname(pathOf(blobId)), { recursive: true })
      await writeFile(pathOf(blobId), content)
    }
    const blobs = rows.map(({ blobId: id, bytes }) => ({
      id,
      bucketId,
      state: 'live' as const,
      size: bytes,
      leaseUntil: 0,
      createdAt: Date.now(),
      crc32: known ? (sums.get(bytes) ?? null) : null,
    }))
    await db.run(...insertion(Blob, blobs))
    const entries = rows.map(({ id, blobId, name, parentId, bytes }) => ({
      ...stamps,
      id,
      parentId,
      name,
      blobId,
      totalBytes: bytes,
      totalFiles: 1,
      fileType: 'image/jpeg',
      kind: FILE as typeof FILE,
    }))
    await db.run(...insertion(Entry, entries))
  }
}

async function folder(name: string, parentId: string, totalFiles: number): Promise<string> {
  const id = newId()
  await db.run(
    ...insertion(Entry, [
      { ...stamps, id, parentId, kind: FOLDER, name, totalFiles, totalFolders: 0 },
    ]),
  )
  return id
}

async function many(name: string, files: number, known = true): Promise<void> {
  const top = await folder(name, rootId, files)
  for (let i = 0; i < files; i += FILES_OF_FOLDER) {
    const parentId = await folder(`folder ${i}`, top, FILES_OF_FOLDER)
    const length = Math.min(FILES_OF_FOLDER, files - i)
    await place(
      Array.from({ length }, (_, n) => ({ name: `picture ${i + n}.jpg`, parentId, bytes: size })),
      known,
    )
  }
}

async function post(path: string, json: object) {
  // While curl downloads, this process does not notice that the service closes idle connections.
  const headers = { 'content-type': 'application/json', cookie: bench.cookie, connection: 'close' }
  const answer = await fetch(`${bench.url}${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(json),
  })
  const { response, msg } = (await answer.json()) as {
    response: { url: string; size: number }
    msg: string
  }
  if (!answer.ok) throw new Error(msg)
  return response
}
const zipOf = (entry: string) => post('/api/files/zip', { entries: [entry] })

/**
 * Downloads in another process, so that this one uses none of the service's resources.
 * @returns the seconds until the first byte and until the end
 */
function download(
  url: string,
  into = '/dev/null',
  more: string[] = [],
): [first: number, all: number] {
  const format = '%{http_code} %{time_starttransfer} %{time_total}'
  const { stdout } = spawnSync('curl', ['-sL', '-o', into, '-w', format, ...more, url], {
    encoding: 'utf8',
  })
  const [status, first, all] = stdout.split(' ').map(Number)
  if (status !== 200 && status !== 206) throw new Error(`The download was answered with ${status}.`)
  return [first ?? 0, all ?? 0]
}

/** Processor time of the service, in seconds. */
function processor(): number {
  const fields = readFileSync(`/proc/${bench.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

print(`${count} files of ${size} bytes, ${values.gib} GiB in all`)
await many('many', count)
const one = { name: 'one', parentId: rootId, bytes: 0 }
await place([one], true)
{
  // One file of the same size, in pieces, because it may be larger than the largest buffer.
  const row = await db.row<{ blobId: string }>(
    "SELECT blob_id AS blobId FROM entry WHERE name = 'one'",
  )
  const piece = Buffer.alloc(MiB, 'Satchel ')
  const pieces = Math.floor((size * count) / MiB)
  await pipeline(
    Readable.from(Array(pieces).fill(piece)),
    createWriteStream(pathOf(row?.blobId ?? '')),
  )
  await db.run("UPDATE entry SET total_bytes = ? WHERE name = 'one'", [pieces * MiB])
}
const link = await post('/api/files/quick_share', { object: 'one' })
const single = `${bench.url}/api/d/${(link as unknown as { sharing_token: string }).sharing_token}`

// The one-time memory of a process is allocated before the measurement.
await many('few', 100)
download((await zipOf('few')).url)
download(single, '/dev/null', ['-r', '0-100000000'])
bench.resetPeak()
await sleep(1000)
const before = bench.resident()
download((await zipOf('many')).url)
print(`memory +${(bench.peak() - before).toFixed(0)} MiB (aim: below 60)`)
const ratios: number[] = []
for (let round = 0; round < Number(values.rounds); round++) {
  const { url, size: bytes } = await zipOf('many')
  const start = processor()
  const [first, zip] = download(url)
  const between = processor()
  const [, file] = download(single)
  const [cpuOfZip, cpuOfFile] = [between - start, processor() - between]
  ratios.push(file / zip)
  const speed = (seconds: number, cpu: number) =>
    `${(bytes / MiB / seconds).toFixed(0)} MiB/s (${((cpu / bytes) * 1024 * MiB).toFixed(2)} s of a processor per GiB)`
  print(
    `archive ${speed(zip, cpuOfZip)}, first byte after ${(first * 1000).toFixed(0)} ms; one file ${speed(file, cpuOfFile)}; ratio ${(file / zip).toFixed(2)}`,
  )
}
print(
  `median ratio ${ratios.sort((a, b) => a - b)[ratios.length >> 1]?.toFixed(2)} (aim: at least 0.80)`,
)

const target = join(bench.dir, 'many.zip')
const { url, size: bytes } = await zipOf('many')
// Interrupted in the middle, and resumed.
download(url, target, ['-r', `0-${Math.floor(bytes / 2)}`])
download(url, target, ['-C', '-'])
for (const [program, ...args] of [
  ['unzip', '-tqq', target],
  ['7z', 't', '-bso0', '-bsp0', target],
  ['bsdtar', '-tf', target],
  ['python3', '-m', 'zipfile', '-t', target],
] as const) {
  const { status, error } = spawnSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  print(`${program}: ${error ? 'is not installed' : status === 0 ? 'fine' : `exit ${status}`}`)
}
await rm(target)
await bench.stop()
