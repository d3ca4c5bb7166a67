import { execFile, spawnSync } from 'node:child_process'
import {
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type ZipEntry, zipLayout } from '../../../src/services/archives/zip-layout.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'

const programs: Record<string, (file: string) => string[]> = {
  unzip: file => ['-tqq', file],
  '7z': file => ['t', '-bso0', '-bsp0', file],
  bsdtar: file => ['-tf', file],
  python3: file => ['-m', 'zipfile', '-t', file],
}
const isThere = (program: string) => !spawnSync(program, ['--help'], { stdio: 'ignore' }).error
const there = Object.keys(programs).filter(isThere)

let t: TestApp
let alice: Person
const dir = mkdtempSync(join(tmpdir(), 'satchel-zip-'))

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  await alice.upload('trip/day 1/sea ü 日本.txt', 'blue'.repeat(100_000), 'text/plain')
  await alice.upload('trip/empty.txt', '', 'text/plain')
  for (let i = 0; i < 20; i++) await alice.upload(`trip/many/${i}.txt`, `${i}`, 'text/plain')
})
afterAll(async () => {
  await t.stop()
  rmSync(dir, { recursive: true })
})

async function urlOf(): Promise<string> {
  return (await alice.rest('POST', '/api/files/zip', { json: { entries: ['trip'] } })).response.url
}

describe('An archive can be read', () => {
  const kinds = { known: 'checksums before the files', unknown: 'checksums behind them' }
  const files: Record<string, string> = {}

  beforeAll(async () => {
    for (const kind of Object.keys(kinds)) {
      if (kind === 'unknown') await t.app.db.run('UPDATE blobs SET crc32 = NULL')
      const bytes = Buffer.from(await (await fetch(await urlOf())).arrayBuffer())
      files[kind] = join(dir, `${kind}.zip`)
      writeFileSync(files[kind], bytes)
    }
    expect(readFileSync(files.known ?? '').equals(readFileSync(files.unknown ?? ''))).toBe(false)
  })

  it('by at least one program on this machine', () => {
    expect(there).not.toEqual([])
  })

  it.each(
    there.flatMap(program =>
      Object.entries(kinds).map(([kind, said]) => [program, said, kind] as const),
    ),
  )('by %s, with %s', (program, _said, kind) => {
    const { status, stderr } = spawnSync(program, programs[program]?.(files[kind] ?? '') ?? [], {
      encoding: 'utf8',
    })
    expect([program, status, stderr]).toEqual([program, 0, ''])
  })

  const withCurl = isThere('curl') ? it : it.skip

  withCurl('for curl, which goes on where it was', async () => {
    const url = await urlOf()
    const whole = Buffer.from(await (await fetch(url)).arrayBuffer())
    const file = join(dir, 'resumed.zip')
    writeFileSync(file, whole.subarray(0, 123_456))
    // Asynchronous, because the service runs in this process.
    await promisify(execFile)('curl', ['-sf', '-C', '-', '-o', file, url])
    expect(readFileSync(file).equals(whole)).toBe(true)
  })
})

describe('A large archive is listed completely', () => {
  /** Programs that list the names in an archive. */
  const lists: Record<string, (file: string) => string[]> = {
    unzip: file => ['-l', file],
    '7z': file => ['l', '-ba', file],
    bsdtar: file => ['-tf', file],
    python3: file => ['-m', 'zipfile', '-l', file],
  }
  const entry = (name: string, size: number): ZipEntry => ({
    prefix: 'large/',
    name,
    blobId: name,
    size,
    crc32: 0,
    modifiedAt: Date.UTC(2026, 10, 28),
  })

  /** Writes the records of an archive, with sparse holes for the contents of files. */
  function write(name: string, entries: ZipEntry[]): string {
    const file = join(dir, name)
    const layout = zipLayout(entries, false)
    const to = openSync(file, 'w')
    let at = 0
    for (const { size, bytes } of layout.pieces()) {
      if (bytes) writeSync(to, bytes(), 0, size, at)
      at += size
    }
    ftruncateSync(to, at)
    closeSync(to)
    expect(at).toBe(layout.size)
    return file
  }

  const listed = (program: string, file: string) =>
    spawnSync(program, lists[program]?.(file) ?? [], {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    })

  it.each(there)('by %s, with 70,000 files', program => {
    const count = 70_000
    const file = write(
      'many.zip',
      Array.from({ length: count }, (_, at) => entry(`f${at}.txt`, 0)),
    )
    const { status, stdout } = listed(program, file)
    expect([program, status, stdout.match(/f\d+\.txt/g)?.length]).toEqual([program, 0, count])
  })

  it.each(there)('by %s, with files of more than 4 GiB and after them', program => {
    const file = write('large.zip', [
      entry('large.bin', 5 * 1024 ** 3),
      entry('middle.bin', 1024),
      entry('last.txt', 4),
    ])
    const { status, stdout } = listed(program, file)
    expect([program, status]).toEqual([program, 0])
    for (const name of ['large.bin', 'middle.bin', 'last.txt']) expect(stdout).toContain(name)
    if (program !== 'bsdtar') expect(stdout).toContain(String(5 * 1024 ** 3))
  })
})
