import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
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

  it('by at least one program of this machine', () => {
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
    // Not synchronous: the service runs in this process.
    await promisify(execFile)('curl', ['-sf', '-C', '-', '-o', file, url])
    expect(readFileSync(file).equals(whole)).toBe(true)
  })
})
