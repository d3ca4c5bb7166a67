import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from '@jest/globals'
import { isRefusedByIndex, isTransient, retried } from '../../db/retry.ts'
import { AppError } from '../../src/runtime/errors.ts'

const engineError = (code: string, message = code) =>
  Object.assign(new Error('wrapped'), { parent: Object.assign(new Error(message), { code }) })

describe('A retryable engine error', () => {
  it.each(['ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT', 'SQLITE_BUSY'])(
    'is recognised by the code %s',
    code => {
      expect(isTransient(engineError(code))).toBe(true)
    },
  )

  it.each(['SQLITE_BUSY', 'ER_LOCK_DEADLOCK'])('is not recognised in a file named %s', name => {
    expect(
      isTransient(new AppError('FILE_NOT_FOUND', `There is no file "${name}".`, { path: name })),
    ).toBe(false)
  })
})

describe('Work that fails temporarily', () => {
  const failing = async (after: number, times: number) => {
    let tries = 0
    const work = async () => {
      tries++
      await sleep(after)
      if (tries <= times) throw engineError('ER_LOCK_WAIT_TIMEOUT')
      return 'done'
    }
    const outcome = await retried(work).catch(() => 'failed')
    return { tries, outcome }
  }

  it('is retried', async () => {
    expect(await failing(0, 2)).toEqual({ tries: 3, outcome: 'done' })
  })

  it('is not retried when the first try used up the time, like a lock wait', async () => {
    expect(await failing(4100, 1)).toEqual({ tries: 1, outcome: 'failed' })
  })
})

describe('A violated unique index', () => {
  it('is recognised on both engines', () => {
    expect(isRefusedByIndex(engineError('ER_DUP_ENTRY'))).toBe(true)
    expect(
      isRefusedByIndex(
        engineError('SQLITE_CONSTRAINT', 'SQLITE_CONSTRAINT: UNIQUE constraint failed: a.b'),
      ),
    ).toBe(true)
  })

  it('is not recognised in the name of a file, or in another constraint', () => {
    expect(
      isRefusedByIndex(
        new AppError('PATH_EXISTS', 'Something named "UNIQUE constraint failed" exists.'),
      ),
    ).toBe(false)
    expect(
      isRefusedByIndex(
        engineError('SQLITE_CONSTRAINT', 'SQLITE_CONSTRAINT: NOT NULL constraint failed: a.b'),
      ),
    ).toBe(false)
  })
})
