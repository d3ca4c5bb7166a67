import { expect, it } from '@jest/globals'
import { AppError, toAppError } from '../../src/runtime/errors.ts'
import { S3Error, within } from '../../src/storage/s3-client.ts'

const withCode = (code: string, more = {}) => Object.assign(new Error(code), { code, ...more })

it.each([
  ['SQLITE_FULL', 'database'],
  ['ER_DISK_FULL', 'database'],
  ['ER_RECORD_FILE_FULL', 'database'],
])('reports %s as NO_SPACE, and names the %s', (code, part) => {
  const cause = new Error('a query failed', { cause: withCode(code) })
  const { error, unexpected } = toAppError(cause)
  expect([error.code, error.status, unexpected]).toEqual(['NO_SPACE', 503, true])
  expect(error.message).toContain(`The ${part} is full`)
})

it('reports a full disk outside the database and the store as NO_SPACE', () => {
  const { error } = toAppError(withCode('ENOSPC', { syscall: 'write' }))
  expect([error.code, error.message]).toEqual(['NO_SPACE', expect.stringContaining('disk is full')])
})

it('reports a locked database as UNAVAILABLE', () => {
  expect(toAppError(withCode('SQLITE_BUSY')).error.code).toBe('UNAVAILABLE')
})

it.each([
  [507, 'XMinioStorageFull'],
  [403, 'QuotaExceeded'],
])('reports an S3 store that responds %d %s as NO_SPACE', async (status, code) => {
  const request = within(1000, undefined, () => Promise.reject(new S3Error(status, code, 'full')))
  const error = await request.catch(thrown => thrown)
  expect(error).toBeInstanceOf(AppError)
  expect(error.code).toBe('NO_SPACE')
})
