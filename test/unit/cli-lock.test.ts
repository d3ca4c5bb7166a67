import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { Failure } from '../../src/cli/failure.ts'
import { type Holder, withLock } from '../../src/cli/lock.ts'
import { rounds } from '../support/rounds.ts'

let dir: string
let lock: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'satchel-lock-'))
  lock = join(dir, 'locks/a.lock')
})
afterEach(() => rmSync(dir, { recursive: true }))

const busy = (holder: Holder) => new Failure('SYNC_BUSY', 'busy', { ...holder })

/** Starts another process, which runs `work` with the lock. */
const begin = (work: string): ChildProcess =>
  spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `import { unlinkSync, writeFileSync } from 'node:fs'
       import { setTimeout as sleep } from 'node:timers/promises'
       import { withLock } from ${JSON.stringify(resolve('src/cli/lock.ts'))}
       const [lock, inside] = ${JSON.stringify([lock, join(dir, 'inside')])}
       const busy = () => Object.assign(new Error('busy'), { isBusy: true })
       ${work}`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )

it('A lock is held by one process at a time, even when its holders are killed', async () => {
  const turns = rounds(40, 400)
  // Each process tries until it has held the lock this many times. Some are killed while they hold
  // it.
  const work = (dies: boolean) => `
    for (let n = 0; n < ${turns}; )
      try {
        await withLock(lock, busy, async () => {
          if (${dies} && n === ${turns / 2}) process.kill(process.pid, 'SIGKILL')
          writeFileSync(inside, String(process.pid), { flag: 'wx' })
          await sleep(1)
          unlinkSync(inside)
          n++
        })
        await sleep(1)
      } catch (error) {
        if (!error.isBusy) throw error
        await sleep(1)
      }`
  const children = [true, false, true, false].map(dies => begin(work(dies)))
  const ends = await Promise.all(children.map(child => once(child, 'exit')))
  expect(ends).toEqual([
    [null, 'SIGKILL'],
    [0, null],
    [null, 'SIGKILL'],
    [0, null],
  ])
})

it('A lock names its holder, and ends with that process, however it ends', async () => {
  const holder = begin(`await withLock(lock, busy, async () => {
    console.log('held')
    await sleep(60_000)
  })`)
  const over = once(holder, 'exit')
  await once(holder.stdout ?? holder, 'data')
  await expect(withLock(lock, busy, async () => {})).rejects.toMatchObject({
    details: { pid: holder.pid },
  })
  holder.kill('SIGKILL')
  await over
  expect(await withLock(lock, busy, async () => 'mine')).toBe('mine')
  writeFileSync(lock, 'damaged')
  expect(await withLock(lock, busy, async () => 'mine')).toBe('mine')
})
