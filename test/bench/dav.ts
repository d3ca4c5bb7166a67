/**
 * WebDAV compared with REST, by turns on the same service: listings, transfers, and the memory of a
 * listing of 100,000 entries: `npm run bench:dav`. On a shared machine, only the ratios are
 * meaningful. Runs on MySQL or MariaDB, or on SQLite with SQLITE=true.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { insertFolder } from './folder.ts'
import { MiB, median, processorOf, startService } from './service.ts'

const ROUNDS = 7
const LISTINGS = 40
const DOWNLOADS = 6
const SMALL = 200
const FILE_BYTES = 64 * MiB

const bench = await startService(process.env.SQLITE === 'true' ? 'sqlite' : 'mysql')
const { url, cookie, pid } = bench
await insertFolder(bench.db, bench, 'thousand', 1000)
await insertFolder(bench.db, bench, 'many', 100_000)

const made = await fetch(`${url}/api/api_keys/private/create`, {
  method: 'POST',
  headers: { cookie, 'content-type': 'application/json' },
  body: JSON.stringify({
    name: 'bench',
    scopes: ['private_files:read', 'private_files:write', 'private_files:delete'],
  }),
})
const { key } = ((await made.json()) as { response: { api_key: { key: string } } }).response.api_key
const authorization = `Basic ${Buffer.from(`bench@example.com:${key}`).toString('base64')}`
const headers = { authorization }

/** Reads a whole response. @returns the number of bytes */
async function bytesOf(answer: Response): Promise<number> {
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  let bytes = 0
  for await (const chunk of answer.body ?? []) bytes += (chunk as Uint8Array).length
  return bytes
}

const PROPS =
  '<d:propfind xmlns:d="DAV:"><d:prop><d:displayname/><d:getlastmodified/><d:getcontentlength/><d:resourcetype/><d:getetag/></d:prop></d:propfind>'
const list = (folder: string, body?: string) =>
  fetch(`${url}/dav/files/${folder}/`, {
    method: 'PROPFIND',
    headers: { ...headers, depth: '1' },
    ...(body ? { body } : {}),
  }).then(bytesOf)
/** The properties that the desktop client of Nextcloud asks for, and those that Android adds. */
const clientProps = (more: string) =>
  `<d:propfind xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns"><d:prop><d:resourcetype/><d:getlastmodified/><d:getcontentlength/><d:getetag/><oc:size/><oc:id/><oc:fileid/><oc:downloadURL/><oc:dDC/><oc:permissions/><oc:checksums/><oc:share-types/>${more}</d:prop></d:propfind>`
const DESKTOP = clientProps('')
const ANDROID = clientProps(
  '<d:displayname/><d:getcontenttype/><d:creationdate/><oc:favorite/><oc:owner-id/><oc:owner-display-name/><oc:comments-unread/><nc:has-preview/><nc:is-encrypted/><nc:mount-type/><nc:note/><nc:sharees/><nc:rich-workspace/><nc:creation_time/><nc:upload_time/><nc:lock/><nc:system-tags/><nc:metadata-photos-size/><nc:metadata-photos-gps/><nc:hidden/>',
)
const listForApps = (body: string) =>
  fetch(`${url}/remote.php/dav/files/bench@example.com/thousand/`, {
    method: 'PROPFIND',
    headers: { ...headers, depth: '1' },
    body,
  }).then(bytesOf)
const tree = () =>
  fetch(`${url}/api/files/tree?path=thousand&limit=1000`, { headers: { 'x-api-key': key } }).then(
    bytesOf,
  )

await fetch(`${url}/dav/files/large`, { method: 'PUT', headers, body: new Uint8Array(FILE_BYTES) })
const tokenOf = async () => {
  const answer = await fetch(`${url}/api/user/private/download_token?file=large`, {
    headers: { 'x-api-key': key },
  })
  return ((await answer.json()) as { response: { private_download_token: string } }).response
    .private_download_token
}
const token = await tokenOf()
const get = () => fetch(`${url}/dav/files/large`, { headers }).then(bytesOf)
const download = () =>
  fetch(`${url}/api/d/private/${token}`, { headers: { 'x-api-key': key } }).then(bytesOf)

interface Measured {
  perSecond: number
  cpu: number
}

async function measure(times: number, call: () => Promise<number>): Promise<Measured> {
  const [cpu, start] = [processorOf(pid), performance.now()]
  for (let i = 0; i < times; i++) await call()
  return {
    perSecond: (times / (performance.now() - start)) * 1000,
    cpu: (processorOf(pid) - cpu) / times,
  }
}

/** Runs the calls by turns. @returns the medians of each */
async function compare(times: number, ...calls: (() => Promise<number>)[]): Promise<Measured[]> {
  for (const call of calls) await measure(Math.ceil(times / 4), call)
  const rounds: Measured[][] = []
  for (let i = 0; i < ROUNDS; i++) {
    const round: Measured[] = []
    // Each call is first equally often, because the machine has other load.
    for (let j = 0; j < calls.length; j++) {
      const at = (i + j) % calls.length
      const call = calls[at]
      if (call) round[at] = await measure(times, call)
    }
    rounds.push(round)
  }
  return calls.map((_, i) => ({
    perSecond: median(rounds.map(round => round[i]?.perSecond ?? 0)),
    cpu: median(rounds.map(round => round[i]?.cpu ?? 0)),
  }))
}

const said = (title: string, { perSecond, cpu }: Measured, of: Measured) =>
  console.log(
    `${title.padEnd(40)} ${perSecond.toFixed(1).padStart(8)}/s  ${(perSecond / of.perSecond).toFixed(2).padStart(5)} of REST  ${cpu.toFixed(1).padStart(6)} ms of processor`,
  )

const listed = await compare(
  LISTINGS,
  tree,
  () => list('thousand', PROPS),
  () => list('thousand'),
  () => listForApps(DESKTOP),
  () => listForApps(ANDROID),
)
const [rest] = listed
const titles = [
  'REST, a page of 1,000',
  'PROPFIND of 1,000, five properties',
  'PROPFIND of 1,000, all properties',
  'PROPFIND of 1,000, as Nextcloud desktop',
  'PROPFIND of 1,000, as Nextcloud Android',
]
if (rest) for (const [i, one] of listed.entries()) said(titles[i] ?? '', one, rest)

const sent = await compare(DOWNLOADS, download, get)
const [byRest] = sent
if (byRest)
  for (const [i, one] of sent.entries()) said(['REST, 64 MiB', 'GET, 64 MiB'][i] ?? '', one, byRest)

await besideRclone()

/**
 * The same files served by `rclone serve webdav` (Debian: rclone) from a folder, without users,
 * versions, events or quotas.
 */
async function besideRclone(): Promise<void> {
  const folder = mkdtempSync(join(bench.dir, 'rclone-'))
  const names = Array.from({ length: 1000 }, (_, i) => `file-${i}.txt`)
  for (const name of names) writeFileSync(join(folder, name), name.padEnd(1024))
  await fetch(`${url}/dav/files/small/`, { method: 'MKCOL', headers })
  for (const name of names)
    await fetch(`${url}/dav/files/small/${name}`, {
      method: 'PUT',
      headers,
      body: name.padEnd(1024),
    })
  const port = await freePort()
  const rclone = spawn('rclone', ['serve', 'webdav', folder, '--addr', `127.0.0.1:${port}`], {
    stdio: 'ignore',
  })
  const isMissing = await new Promise<boolean>(resolve => {
    rclone.once('error', () => resolve(true))
    rclone.once('spawn', () => setTimeout(() => resolve(false), 2000))
  })
  if (isMissing) return console.log('rclone serve webdav: left out, rclone is not installed')
  const theirs = `http://127.0.0.1:${port}`
  const depth = { depth: '1' }
  const all = (at: string, more: Record<string, string> = {}) =>
    fetch(at, { method: 'PROPFIND', headers: { ...depth, ...more } }).then(bytesOf)
  let next = 0
  const one = (at: string, more: Record<string, string> = {}) =>
    fetch(`${at}${names[next++ % names.length]}`, { headers: more }).then(bytesOf)
  const eight = async (at: string, more?: Record<string, string>) => {
    const bytes = await Promise.all(Array.from({ length: 8 }, () => one(at, more)))
    return bytes.reduce((sum, some) => sum + some)
  }
  const pairs = [
    ['PROPFIND of 1,000, all properties', LISTINGS, all],
    ['GET of 1 KiB', SMALL, one],
    ['GET of 1 KiB, each time eight at once', SMALL / 4, eight],
  ] as const
  for (const [title, times, call] of pairs) {
    const [own, other] = await compare(
      times,
      () => call(`${url}/dav/files/small/`, headers),
      () => call(`${theirs}/`),
    )
    if (own && other)
      console.log(
        `${title.padEnd(40)} ${own.perSecond.toFixed(1).padStart(8)}/s  ${(own.perSecond / other.perSecond).toFixed(2).padStart(5)} of rclone serve webdav (${other.perSecond.toFixed(1)}/s)`,
      )
  }
  rclone.kill()
}

for (const round of [1, 2]) {
  bench.resetPeak()
  await new Promise(resolve => setTimeout(resolve, 500))
  const before = bench.resident()
  const start = performance.now()
  const bytes = await list('many', PROPS)
  console.log(
    `PROPFIND of 100,000, round ${round}: ${(bytes / MiB).toFixed(0)} MiB in ${((performance.now() - start) / 1000).toFixed(1)} s, memory ${before.toFixed(0)} MiB before, ${bench.peak().toFixed(0)} MiB at most`,
  )
}
await bench.stop()
