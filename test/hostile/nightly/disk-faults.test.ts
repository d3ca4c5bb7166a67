import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { expectConsistent } from '../../support/consistency.ts'
import { type Person, rest, startApp, type TestApp } from '../../support/harness.ts'
import { eventually } from '../../support/until.ts'
import { restUploader, type Uploader } from '../../support/uploader.ts'

const MiB = 1024 * 1024
const PART = MiB

/** A separate file system, or undefined where this user may not mount one. */
function mounted(options: string): string | undefined {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-volume-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', dir], { stdio: 'ignore' })
    return dir
  } catch {
    rmSync(dir, { recursive: true })
    return undefined
  }
}

const mayMount = (() => {
  const dir = mounted('size=1m')
  if (!dir) return false
  execFileSync('umount', [dir])
  rmSync(dir, { recursive: true })
  return true
})()
const withMounts = mayMount ? describe : describe.skip

async function expectReady(t: TestApp, ready: boolean): Promise<void> {
  await eventually(async () => {
    const { status, response } = await rest(t.url, 'GET', '/readyz')
    expect([status === 200, response.blob_store]).toEqual([ready, ready ? 'ok' : 'unavailable'])
  }, 8000)
}

const refused = { status: 503, response: { code: 'UNAVAILABLE' } }
const drafts = (dir: string) => readdirSync(join(dir, 'drafts'))

withMounts('A volume for the blobs', () => {
  let dir: string
  let t: TestApp
  let alice: Person
  let up: Uploader

  const open = (options: string) => {
    beforeAll(async () => {
      dir = mounted(options) ?? ''
      t = await startApp({
        TRASH_DAYS: '0',
        BLOB_DIR: dir,
        UPLOAD_PART_BYTES: String(PART),
        LEASE_SECONDS: '2',
      })
      alice = await t.signIn('alice')
      up = restUploader(alice)
    })
    afterAll(async () => {
      await t.stop()
      execFileSync('umount', ['-l', dir])
      rmSync(dir, { recursive: true })
    })
  }

  const kept = new Map<string, Buffer>()
  async function keep(name: string, size: number) {
    const bytes = randomBytes(size)
    const answer = await alice.upload(name, bytes)
    if (answer.status === 200) kept.set(name, bytes)
    return answer
  }
  async function expectKept(): Promise<void> {
    const { response } = await alice.rest('GET', '/api/files/tree')
    expect(response.files.map((f: { name: string }) => f.name).sort()).toEqual(
      [...kept.keys()].sort(),
    )
    for (const [name, bytes] of kept) {
      const { response: made } = await alice.rest(
        'POST',
        `/api/user/private/download_token?file=${name}`,
      )
      const { headers } = await alice.rest('GET', `/api/d/private/${made.private_download_token}`)
      const got = await fetch(headers.get('location') ?? '')
      expect(Buffer.from(await got.arrayBuffer()).equals(bytes)).toBe(true)
    }
  }

  describe('of 64 MiB that fills up', () => {
    open('size=64m')

    it('is a 503 for files that do not fit, loses nothing, and recovers when space is freed', async () => {
      kept.clear()
      const { value } = await up.start({ filename: 'parts.bin', size: 3 * PART })
      const bytes = randomBytes(3 * PART)
      const send = (n: number) =>
        up.part(value.upload_id, n, { bytes: bytes.subarray((n - 1) * PART, n * PART) })
      // A refusal before the whole part is read may close the connection, so clients retry.
      const part = (n: number) =>
        send(n)
          .catch(() => send(n))
          .catch(() => send(n))
      expect((await part(1)).status).toBe(200)
      let n = 0
      while ((await keep(`large-${n}`, 3 * MiB)).status === 200) n++
      expect(n).toBeGreaterThan(12)
      while ((await keep(`small-${n}`, MiB)).status === 200) n++
      while ((await keep(`tiny-${n}`, 60_000)).status === 200) n++
      while ((await keep(`tiny-${n}`, 100)).status === 200) n++
      expect(await keep('never', MiB)).toMatchObject(refused)
      // Repeats on the same connections, each of which drains the refused bodies.
      for (let i = 0; i < 10; i++)
        expect(await part(2)).toMatchObject({ status: 503, code: 'UNAVAILABLE' })
      expect(await part(1)).toMatchObject({ status: 503, code: 'UNAVAILABLE' })
      await expectReady(t, false)
      // Refused parts use no space.
      expect(drafts(dir)).toEqual([value.upload_id])
      expect(readdirSync(join(dir, 'drafts', value.upload_id)).sort()).toEqual(['data', 'index'])
      await expectKept()
      expect((await up.look(value.upload_id)).value.received).toEqual([1])

      expect((await alice.rest('DELETE', '/api/files/delete?file=large-0')).status).toBe(200)
      kept.delete('large-0')
      await t.settle()
      await expectReady(t, true)
      for (const number of [2, 3]) expect((await part(number)).status).toBe(200)
      expect((await up.complete(value.upload_id)).status).toBe(200)
      kept.set('parts.bin', bytes)
      await expectKept()
      await expectConsistent(t)
    })
  })

  describe('without free inodes', () => {
    open('size=64m,nr_inodes=40')

    it('is a 503, loses nothing, and recovers when inodes are freed', async () => {
      kept.clear()
      let n = 0
      while ((await keep(`file-${n}`, 10)).status === 200) n++
      expect(n).toBeGreaterThan(10)
      expect(await keep('never', 10)).toMatchObject(refused)
      await expectReady(t, false)
      await expectKept()
      for (const name of ['file-0', 'file-1', 'file-2', 'file-3']) {
        expect((await alice.rest('DELETE', `/api/files/delete?file=${name}`)).status).toBe(200)
        kept.delete(name)
      }
      await t.settle()
      await expectReady(t, true)
      expect((await keep('again', 10)).status).toBe(200)
      await expectKept()
      expect(drafts(dir)).toEqual([])
      await expectConsistent(t)
    })
  })

  describe('that becomes read-only or disappears', () => {
    open('size=64m')

    it.each([
      ['becomes read-only', () => execFileSync('mount', ['-o', 'remount,ro', dir]), true],
      ['goes away', () => execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', dir]), false],
    ])(
      '%s: responds with 503, loses nothing, and recovers by itself',
      async (_how, fail, readable) => {
        kept.clear()
        const name = `kept-${randomBytes(4).toString('hex')}`
        await keep(name, 100_000)
        const { value } = await up.start({ filename: `${name}-parts`, size: 2 * PART })
        const bytes = randomBytes(2 * PART)
        const part = (n: number) =>
          up.part(value.upload_id, n, { bytes: bytes.subarray((n - 1) * PART, n * PART) })
        expect((await part(1)).status).toBe(200)
        fail()
        try {
          await expectReady(t, false)
          expect(await keep('never', 10)).toMatchObject(refused)
          expect(await part(2)).toMatchObject({ status: 503, code: 'UNAVAILABLE' })
          if (readable) await expectKept()
        } finally {
          execFileSync(
            ...((readable ? ['mount', ['-o', 'remount,rw', dir]] : ['umount', [dir]]) as [
              string,
              string[],
            ]),
          )
        }
        await expectReady(t, true)
        expect((await part(2)).status).toBe(200)
        expect((await up.complete(value.upload_id)).status).toBe(200)
        kept.set(`${name}-parts`, bytes)
        await expectKept()
        expect(drafts(dir)).toEqual([])
        for (const each of kept.keys()) await alice.rest('DELETE', `/api/files/delete?file=${each}`)
        await t.settle()
        await expectConsistent(t)
      },
      60_000,
    )
  })
})
