import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ended, openWarmShell, type Shell } from '../support/command-line.ts'
import { expectConsistent } from '../support/consistency.ts'
import { type FlakyProxy, startFlakyProxy } from '../support/flaky-proxy.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { until } from '../support/until.ts'

const PART = 256 * 1024
/** Too large for one request. */
const SIZE = 10 * 1024 * 1024 + 17

let t: TestApp
let alice: Person
let bob: Person
let hers: Shell
let his: Shell
let strangers: Shell
/** The proxy between his command and the service. */
let wire: FlakyProxy
/** The link of the share that he received. */
let link: string

beforeAll(async () => {
  t = await startApp({ UPLOAD_PART_BYTES: String(PART) })
  const { hostname, port } = new URL(t.url)
  wire = await startFlakyProxy({ host: hostname, port: Number(port) })
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  const carol = await t.signIn('carol')
  const shellOf = ({ cookie }: Person, url = t.url) =>
    openWarmShell({ SATCHEL_URL: url, SATCHEL_SESSION: cookie.replace('session_id=', '') })
  hers = shellOf(alice)
  his = shellOf(bob, `http://127.0.0.1:${wire.port}`)
  strangers = shellOf(carol, `http://127.0.0.1:${wire.port}`)
  await alice.upload('top/plans/a.txt', 'hello')
  await alice.upload('top/plans/day 1/sea.txt', 'blue')
  await alice.upload('top/secret.txt', 'mine')
  link = await shared('top/plans', '--edit')
})
afterAll(async () => {
  for (const each of [hers, his, strangers]) each?.close()
  await wire?.close()
  await t.stop()
})

const here = (token: string) => `http://127.0.0.1:${wire.port}/share/${token}`
/** Shares an entry of hers with him. */
async function shared(path: string, ...options: string[]): Promise<string> {
  const { shares } = await hers.json('share', path, '--with', bob.email, ...options)
  return here(shares[0].sharing_token)
}
const tokenOf = (at: string) => at.split('/').at(-1) ?? ''
const write = (name: string, content: string | Uint8Array, shell = his) =>
  writeFileSync(join(shell.home, name), content)
const namesIn = async (path: string): Promise<string[]> => {
  const { folders, files } = await hers.json('ls', path)
  return [...folders, ...files].map(({ name }: { name: string }) => name)
}
const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex')

describe('The permission to edit', () => {
  it('is granted, shown, removed and granted again', async () => {
    expect((await hers.json('shares')).shares[0]).toMatchObject({
      path: '/top/plans',
      may_edit: true,
    })
    expect((await hers.satchel(['shares'])).out).toMatch(/may edit/)
    expect((await his.satchel(['received'])).out).toMatch(
      /plans +alice@example\.com .* may edit +http/,
    )
    const edit = (...options: string[]) => hers.json('links', 'edit', tokenOf(link), ...options)
    expect(await edit('--no-edit')).toMatchObject({ may_edit: false, allow_download: true })
    expect(await his.refused('mkdir', `${link}/late`)).toMatchObject({
      error: { code: 'FORBIDDEN' },
    })
    expect(await edit('--view-only')).toMatchObject({ may_edit: false, allow_download: false })
    expect(await edit('--edit')).toMatchObject({ may_edit: true, allow_download: true })
    expect(await edit('--view-only')).toMatchObject({ may_edit: false, allow_download: false })
    expect(await edit('--edit')).toMatchObject({ may_edit: true })
  })

  it('cannot be combined with a password or view-only access', async () => {
    const share = (...options: string[]) =>
      hers.refused('share', 'top/plans', '--with', bob.email, ...options)
    expect(await share('--edit', '--view-only')).toMatchObject({ code: 2 })
    expect(await share('--edit', '--password')).toMatchObject({ code: 2 })
    const { sharing_token: token } = await hers.json('quick-share', 'top/plans')
    expect(await hers.refused('links', 'edit', token, '--edit')).toMatchObject({
      error: { code: 'INVALID_INPUT' },
    })
  })
})

describe('A shared folder', () => {
  it('and its subfolders are listed by the link', async () => {
    const { path, folders, files } = await his.json('ls', link)
    expect(path).toBe(link)
    expect(folders).toMatchObject([{ name: 'day 1', path: `${link}/day 1`, size: 4 }])
    expect(files).toMatchObject([
      { name: 'a.txt', path: `${link}/a.txt`, size: 5, file_type: 'text/plain' },
    ])
    expect((await his.satchel(['ls', `${link}/day 1`])).out).toBe('sea.txt\n')
    expect((await his.satchel(['ls', '-l', `${link}/`])).out).toMatch(/4 B .* day 1\/\n/)
    expect((await his.json('ls', `${link}/a.txt`)).files).toMatchObject([{ name: 'a.txt' }])
    expect((await his.satchel(['tree', link])).out).toMatch(/day 1\/\n.*sea\.txt\n.*a\.txt/)
    expect(await his.refused('ls', `${link}/none`)).toMatchObject({ error: { code: 'NOT_FOUND' } })
  })

  it('accepts files, folders, moves and deletions, and restores files', async () => {
    write('b.txt', 'by bob')
    const { files } = await his.json('put', 'b.txt', '--to', `${link}/new/deep`)
    expect(files).toMatchObject([{ path: `${link}/new/deep/b.txt`, status: 'uploaded' }])
    expect((await his.json('put', 'b.txt', '--to', `${link}/new/deep`)).files).toMatchObject([
      { status: 'unchanged' },
    ])
    write('b.txt', 'again!')
    const put = ['put', 'b.txt', '--to', `${link}/new/deep`]
    expect(await his.refused(...put)).toMatchObject({ code: 5, error: { code: 'PATH_EXISTS' } })
    expect((await his.json(...put, '--replace')).files).toMatchObject([{ status: 'uploaded' }])
    await his.json('get', `${link}/new/deep/b.txt`, '-o', 'back.txt')
    expect(readFileSync(join(his.home, 'back.txt'), 'utf8')).toBe('again!')
    expect((await hers.json('versions', 'list', 'top/plans/new/deep/b.txt')).versions).toHaveLength(
      1,
    )

    await his.json('mkdir', `${link}/day 2`)
    expect(await his.refused('mkdir', `${link}/day 2`)).toMatchObject({
      error: { code: 'PATH_EXISTS' },
    })
    await his.json('mkdir', '-p', `${link}/day 2`)
    expect(
      (await his.json('mv', `${link}/new/deep/b.txt`, `${link}/day 2/c.txt`)).moved,
    ).toMatchObject([{ source: `${link}/new/deep/b.txt`, destination: `${link}/day 2/c.txt` }])
    expect(await namesIn('top/plans/day 2')).toEqual(['c.txt'])
    expect(await his.refused('mv', `${link}/a.txt`, 'mine.txt')).toMatchObject({
      error: { code: 'USAGE' },
    })
    expect(await his.refused('rm', `${link}/new`)).toMatchObject({ error: { code: 'IS_A_FOLDER' } })
    expect(
      (await his.json('rm', '-r', `${link}/new`, `${link}/day 2/c.txt`)).deleted,
    ).toMatchObject([
      { path: `${link}/new`, files_deleted: 0 },
      { path: `${link}/day 2/c.txt`, files_deleted: 1, trash_item_id: null },
    ])
    expect(await namesIn('top/plans')).toEqual(['day 1', 'day 2', 'a.txt'])
    const { items } = await hers.json('trash', 'list')
    expect(items.map(({ path }: { path: string }) => path)).toContain('/top/plans/day 2/c.txt')
  })

  it('accepts folders, and standard input of any length', async () => {
    const bytes = randomBytes(SIZE)
    const { code } = await his.satchel(['put', '-', '--name', 'stream.bin', '--to', link], {
      stdin: bytes,
    })
    expect(code).toBe(0)
    expect((await hers.json('ls', 'top/plans/stream.bin')).files[0].md5_checksum).toBe(md5(bytes))
    await his.json('rm', `${link}/stream.bin`)
  })

  it('accepts a large file in parts, and resumes after a kill', async () => {
    const bytes = randomBytes(SIZE)
    write('big.bin', bytes)
    const before = wire.sent()
    const child = his.begin(['put', 'big.bin', '--to', `${link}/films`, '--parallel', '2'])
    const done = ended(child)
    await until(() => wire.sent() - before > SIZE / 2 || child.exitCode !== null)
    child.kill('SIGKILL')
    await done
    const { files } = await his.json('put', 'big.bin', '--to', `${link}/films`)
    expect(files).toMatchObject([{ path: `${link}/films/big.bin`, size: SIZE, status: 'uploaded' }])
    expect((await hers.json('ls', 'top/plans/films/big.bin')).files[0].md5_checksum).toBe(
      md5(bytes),
    )
    // Only missing parts were sent again.
    expect(wire.sent() - before).toBeLessThan(SIZE + 8 * PART)
    await expectConsistent(t)
  })

  it('explains why a change is refused', async () => {
    write('c.txt', 'x', strangers)
    expect(await strangers.refused('mkdir', `${link}/x`)).toMatchObject({
      error: { code: 'SHARE_NOT_FOUND' },
    })
    expect(await strangers.refused('put', 'c.txt', '--to', link)).toMatchObject({
      error: { code: 'SHARE_NOT_FOUND' },
    })
    expect(await his.refused('rm', '-r', link)).toMatchObject({ error: { code: 'INVALID_PATH' } })
    expect(await his.refused('mv', `${link}/a.txt`, `${link}/../secret.txt`)).toMatchObject({
      error: { code: 'INVALID_PATH' },
    })
    expect(await his.refused('versions', 'list', `${link}/a.txt`)).toMatchObject({
      error: { code: 'USAGE' },
    })
    expect(await his.refused('ls', 'https://other.example/share/abc/x')).toMatchObject({
      error: { code: 'USAGE' },
    })
    await hers.json('revoke', tokenOf(link))
    write('late.bin', randomBytes(SIZE))
    expect(await his.refused('put', 'late.bin', '--to', link)).toMatchObject({
      error: { code: 'SHARE_NOT_FOUND' },
    })
  })
})

describe('A single shared file', () => {
  it('can be replaced, and nothing else', async () => {
    const one = await shared('top/secret.txt', '--edit')
    write('new.txt', 'ours')
    expect(await his.refused('put', 'new.txt', '--to', one)).toMatchObject({
      error: { code: 'FORBIDDEN' },
    })
    expect((await his.json('put', '--replace', 'new.txt', '--to', one)).files).toMatchObject([
      { status: 'uploaded' },
    ])
    await hers.json('get', 'top/secret.txt')
    expect(readFileSync(join(hers.home, 'secret.txt'), 'utf8')).toBe('ours')
    await expectConsistent(t)
  })
})
