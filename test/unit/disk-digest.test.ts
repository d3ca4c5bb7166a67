import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals'
import { createDiskStore } from '../../src/storage/disk.ts'
import { inTurn } from '../../src/storage/file-lock.ts'
import { startHash } from '../../src/storage/hash.ts'
import {
  finishPrefix,
  forgetPrefix,
  hashParts,
  sumsOfPrefix,
} from '../../src/storage/prefix-hash.ts'
import type { BlobStore } from '../../src/storage/store.ts'

const root = mkdtempSync(join(tmpdir(), 'satchel-disk-digest-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const SIZE = 1_500_000
const key = '0190aaaa-0000-7000-8000-000000000001'
const partOf = (number: number, value = number) => Buffer.alloc(number === 6 ? 1000 : SIZE, value)
async function* pieces(bytes: Uint8Array) {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
}

let serial = 0
let dir: string
let store: BlobStore
beforeEach(async () => {
  dir = join(root, `${serial++}`)
  store = createDiskStore({ dir })
  await store.prepare()
  await store.bind('this', false)
})

const send = (number: number, value?: number, md5?: string) => {
  const bytes = partOf(number, value)
  return store.stagePart(key, number, pieces(bytes), {
    size: bytes.length,
    offset: (number - 1) * SIZE,
    md5,
  })
}

/** Sends a part through another instance on the same folder. */
async function sendElsewhere(number: number, value = number): Promise<void> {
  const source = new URL('../../src/storage/disk.ts', import.meta.url).href
  const code = `
    const { createDiskStore } = await import('${source}')
    const store = createDiskStore({ dir: ${JSON.stringify(dir)} })
    await store.bind('this', false)
    const once = async function* (bytes) { yield bytes }
    const size = ${partOf(number).length}
    await store.stagePart('${key}', ${number}, once(Buffer.alloc(size, ${value})), { size, offset: ${(number - 1) * SIZE} })`
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], {
    timeout: 60_000,
  })
}

const commit = (signal?: AbortSignal) =>
  store.commitParts(key, 6, { contentType: '', ...(signal ? { signal } : {}) })
const stored = async () => md5(Buffer.concat(await (await store.open(key)).toArray()))
const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex')
const sumsOf = (bytes: Uint8Array) => ({
  md5: md5(bytes),
  crc32: crc32(bytes).toString(16).padStart(8, '0'),
})
const whole = (...values: number[]) =>
  sumsOf(Buffer.concat(values.map((value, i) => partOf(i + 1, value))))

describe('The checksum of a multipart upload', () => {
  it('is known at the commit, in any order of the parts, and again at a second commit', async () => {
    await send(5)
    await Promise.all([4, 3, 6].map(number => send(number, number, md5(partOf(number)))))
    await Promise.all([1, 2].map(number => send(number)))
    const expected = whole(1, 2, 3, 4, 5, 6)
    expect(await commit()).toEqual(expected)
    expect(await commit()).toEqual(expected)
    expect(await stored()).toBe(expected.md5)
  })

  it('covers parts that other instances received', async () => {
    await send(1)
    for (const number of [2, 4]) await sendElsewhere(number)
    for (const number of [3, 5, 6]) await send(number)
    expect(await commit()).toEqual(whole(1, 2, 3, 4, 5, 6))
  })

  it('excludes replaced parts, here or on another instance', async () => {
    for (const number of [1, 2, 3, 4, 5, 6]) await send(number)
    await sendElsewhere(2, 7)
    expect(await commit()).toEqual({})
    expect(await stored()).toBe(whole(1, 7, 3, 4, 5, 6).md5)
    await send(6, 8)
    expect(await commit()).toEqual({})
    expect(await stored()).toBe(whole(1, 7, 3, 4, 5, 8).md5)
  })

  it('is unknown once the parts are deleted', async () => {
    for (const number of [1, 2, 3, 4, 5, 6]) await send(number)
    await commit()
    await store.endParts(key)
    for (const number of [1, 2, 3, 4, 5, 6]) await send(number, 9)
    expect(await commit()).toEqual(whole(9, 9, 9, 9, 9, 9))
  })

  it('stops when its commit is cancelled, and starts again with the next commit', async () => {
    for (const number of [1, 2, 3, 4, 5, 6]) await send(number)
    // Simulates a restart.
    forgetPrefix(join(dir, 'drafts', key))
    let release = () => {}
    const turn = inTurn('prefix', () => new Promise<void>(resolve => (release = resolve)))
    const stop = new AbortController()
    const committed = commit(stop.signal)
    await new Promise(resolve => setTimeout(resolve, 50))
    stop.abort(new Error('It is to end.'))
    release()
    await expect(committed).rejects.toThrow('It is to end.')
    await expect(commit(stop.signal)).rejects.toThrow('It is to end.')
    await turn
    expect(await store.look(key)).toBeNull()
    expect(await commit()).toEqual(whole(1, 2, 3, 4, 5, 6))
  })

  it('is not computed when the completion reads all bytes anyway', async () => {
    for (const number of [1, 2, 3, 4, 5, 6]) await send(number)
    await send(2, 7)
    const folder = join(dir, 'drafts', key)
    await finishPrefix(folder)
    expect(await sumsOfPrefix(folder, 6, 5 * SIZE + 1000)).toBeUndefined()
  })

  it('is kept for continuing uploads, however many are abandoned', async () => {
    const bytes = (text: string) => Buffer.from(text)
    const others = Array.from({ length: 999 }, (_, i) => `${dir}/other-${i}`)
    await hashParts(dir, [{ number: 1, bytes: bytes('a') }])
    for (const other of others) await hashParts(other, [{ number: 1, bytes: bytes('a') }])
    await hashParts(dir, [{ number: 2, bytes: bytes('b') }])
    await hashParts(`${dir}/newest`, [{ number: 1, bytes: bytes('a') }])
    expect(await sumsOfPrefix(dir, 2, 2)).toEqual(sumsOf(bytes('ab')))
    for (const each of [...others, dir, `${dir}/newest`]) forgetPrefix(each)
  })

  it('accepts no bytes after its end', async () => {
    const hash = startHash('md5')
    await hash.add(Buffer.from('a'))
    expect(await hash.end()).toBe(md5(Buffer.from('a')))
    await expect(hash.add(Buffer.from('b'))).rejects.toThrow('ended')
  })
})
