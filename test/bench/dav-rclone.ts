/**
 * rclone over WebDAV: `sync` of many files to the service and back, each followed by a check of
 * checksums, with the cost for each file, and `bisync` with kills on both sides: `npm run
 * bench:dav-rclone -- [files]`, by default 20,000. Needs rclone (Debian: rclone). Compares by time
 * like rclone, or by checksum with COMPARE=checksum. Runs on MySQL or MariaDB, or on SQLite with
 * SQLITE=true.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { processorOf, startService } from './service.ts'

const FILES = Number(process.argv[2] ?? 20_000)
const IN_FOLDER = 200
const COMPARED = process.env.COMPARE === 'checksum' ? ['--checksum'] : []
const KILLS = 6

const bench = await startService(process.env.SQLITE === 'true' ? 'sqlite' : 'mysql')
const { url, cookie, pid, dir } = bench
const made = await fetch(`${url}/api/api_keys/private/create`, {
  method: 'POST',
  headers: { cookie, 'content-type': 'application/json' },
  body: JSON.stringify({
    name: 'rclone',
    scopes: ['private_files:read', 'private_files:write', 'private_files:delete'],
  }),
})
const { key } = ((await made.json()) as { response: { api_key: { key: string } } }).response.api_key

const env = {
  ...process.env,
  RCLONE_CONFIG: '/dev/null',
  RCLONE_CONFIG_S_TYPE: 'webdav',
  RCLONE_CONFIG_S_URL: `${url}/dav/files/`,
  RCLONE_CONFIG_S_VENDOR: 'owncloud',
  RCLONE_CONFIG_S_BEARER_TOKEN: key,
}
const begin = (args: string[]) =>
  spawn('rclone', args, { env, stdio: ['ignore', 'ignore', 'pipe'] })

/** Runs rclone until it exits. @returns its output */
async function rclone(...args: string[]): Promise<{ code: number; said: string }> {
  const child = begin(args)
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  return { code: Number(code), said }
}

/** The number of differences that rclone finds. */
async function differences(...args: string[]): Promise<number> {
  const { said } = await rclone('check', ...args)
  return Number(/(\d+) differences found/.exec(said)?.[1] ?? Number.NaN)
}

async function timed(
  title: string,
  work: () => Promise<{ code: number; said: string }>,
): Promise<void> {
  const [cpu, start] = [processorOf(pid), performance.now()]
  const { code, said } = await work()
  const [ms, used] = [performance.now() - start, processorOf(pid) - cpu]
  console.log(
    `${title.padEnd(34)} ${(ms / 1000).toFixed(1).padStart(7)} s  ${((FILES / ms) * 1000).toFixed(0).padStart(6)} files/s  ${(used / FILES).toFixed(2).padStart(6)} ms of processor for a file`,
  )
  if (code !== 0) throw new Error(said.slice(-2000))
}

const [here, back] = [join(dir, 'here'), join(dir, 'back')]
const fileAt = (i: number) => join(here, `folder ${Math.floor(i / IN_FOLDER)}`, `file ${i}.txt`)
for (let i = 0; i < FILES; i++) {
  if (i % IN_FOLDER === 0) mkdirSync(join(fileAt(i), '..'), { recursive: true })
  writeFileSync(fileAt(i), `file ${i}\n`.repeat(i % 40))
}

/**
 * The number of files whose times differ on the two sides, in whole seconds as rclone prints them.
 */
async function otherTimes(one: string, other: string): Promise<number> {
  const listed = async (side: string) => {
    const args = ['lsf', '-R', '--files-only', '--format', 'tp', side]
    const child = spawn('rclone', args, { env, stdio: ['ignore', 'pipe', 'ignore'] })
    return (await text(child.stdout)).trim().split('\n')
  }
  const there = new Set(await listed(other))
  return (await listed(one)).filter(line => !there.has(line)).length
}

const many = [...COMPARED, '--transfers', '8', '--checkers', '8']
await timed('sync to the service', () => rclone('sync', here, 'S:many', ...many))
await timed('check', () => rclone('check', here, 'S:many'))
await timed('sync again, nothing changed', () => rclone('sync', here, 'S:many', ...many))
await timed('sync from the service', () => rclone('sync', 'S:many', back, ...many))
console.log(
  `differences of what has come back: ${await differences(here, back)}, other times: ${await otherTimes(here, back)}`,
)
for (let i = 0; i < FILES; i += 100) appendFileSync(fileAt(i), 'changed')
for (let i = 50; i < FILES; i += 100) rmSync(fileAt(i))
await timed('sync, 1 % changed, 1 % deleted', () => rclone('sync', here, 'S:many', ...many))
console.log(
  `differences: ${await differences(here, 'S:many')}, memory of the service: ${bench.peak().toFixed(0)} MiB`,
)

/**
 * Syncs a smaller folder. Both sides change before each run, and each run is killed at another
 * moment.
 */
const two = join(dir, 'two')
const state = ['--workdir', join(dir, 'bisync'), ...COMPARED]
mkdirSync(two)
const few = Math.min(FILES, 500)
for (let i = 0; i < few; i++) writeFileSync(join(two, `file ${i}`), `file ${i}`)
await rclone('mkdir', 'S:two')
const first = await rclone('bisync', two, 'S:two', '--resync', ...state)
if (first.code !== 0) throw new Error(first.said.slice(-2000))
const put = (name: string, body: string) =>
  fetch(`${url}/dav/files/two/${encodeURIComponent(name)}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}` },
    body,
  })
let repaired = 0
for (let round = 0; round < KILLS; round++) {
  for (let i = 0; i < few; i += 5) writeFileSync(join(two, `file ${i}`), `here in ${round}, ${i}`)
  for (let i = 1; i < few; i += 25) await put(`file ${i}`, `there in ${round}, ${i}`)
  const child = begin(['bisync', two, 'S:two', ...state])
  child.stderr.resume()
  setTimeout(() => child.kill('SIGKILL'), 100 + round * 150)
  await once(child, 'exit')
  // The lock of a dead process, and incomplete listings.
  const again = await rclone('bisync', two, 'S:two', '--force', ...state)
  if (again.code !== 0) {
    repaired++
    rmSync(join(dir, 'bisync'), { recursive: true, force: true })
    const anew = await rclone('bisync', two, 'S:two', '--resync', ...state)
    if (anew.code !== 0) throw new Error(anew.said.slice(-2000))
  }
  const left = await differences(two, 'S:two')
  if (left !== 0) throw new Error(`${left} differences after kill ${round}`)
  const times = await otherTimes(two, 'S:two')
  if (times !== 0) throw new Error(`${times} files have other times after kill ${round}`)
}
const last = await rclone('bisync', two, 'S:two', '-v', ...state)
console.log(
  `bisync again: ${last.said.includes('No changes found') ? 'nothing to do' : last.said.slice(-500)}`,
)
console.log(
  `bisync: ${KILLS} kills of rclone, 0 differences and 0 other times after each; ${repaired} needed --resync`,
)
await bench.stop()
