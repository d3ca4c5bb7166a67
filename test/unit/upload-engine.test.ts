import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import pLimit from 'p-limit'
import { copyName } from '../../src/upload-engine/copy-name.ts'
import { digestsOf } from '../../src/upload-engine/digests.ts'
import { meter } from '../../src/upload-engine/rate.ts'
import { SMALL, upload } from '../../src/upload-engine/upload.ts'
import { watch } from '../../src/upload-engine/watchdog.ts'
import { limits } from '../../src/values/paths.ts'
import { BadService, crc32Of, fileOf, jobFor, lost, md5, refusal } from './upload-engine-service.ts'

const MiB = 1024 * 1024
const CHUNK = MiB
/** A size that requires a multipart upload. */
const SIZE = SMALL + 17
const PARTS = Math.ceil(SIZE / CHUNK)

const large = randomBytes(SIZE)
const small = randomBytes(1000)

let service: BadService
const { setTimeout: real } = globalThis

beforeEach(() => {
  service = new BadService(CHUNK)
  // A clock that runs a hundred times as fast, because the waits between attempts are seconds.
  jest
    .spyOn(globalThis, 'setTimeout')
    .mockImplementation(((work: () => void, ms = 0) => real(work, ms / 100)) as typeof setTimeout)
})
afterEach(() => {
  jest.restoreAllMocks()
})

const count = (call: string) => service.calls.filter(name => name === call).length
const stored = () => service.files.get('docs/a.bin')

describe('A large file', () => {
  it('is sent in parts, in parallel up to a limit, and is read once', async () => {
    const file = fileOf(large)
    const { job, seen } = jobFor(service, file.source)
    expect(await upload(job)).toEqual({
      size: SIZE,
      md5: md5(large),
      fileName: 'a.bin',
      status: 'uploaded',
    })
    expect(stored()?.equals(large)).toBe(true)
    expect([count('part'), service.load.most, file.digested()]).toEqual([PARTS, 3, 0])
    expect(service.given).toEqual([{ crc32: crc32Of(large) }])
    expect(seen).toMatchObject({ moved: SIZE, skipped: 0, checks: 1, session: null, retries: [] })
  })

  it('is completed in the background, with its progress', async () => {
    service.slow = [0, SIZE / 4, SIZE / 2]
    const { job, seen } = jobFor(service, fileOf(large).source)
    await upload(job)
    expect(stored()?.equals(large)).toBe(true)
    expect([seen.shares, count('complete'), count('outcome')]).toEqual([[0, 0.25, 0.5], 1, 3])
  })

  it('sends the parts again that the background completion misses', async () => {
    service.slow = [0]
    service.fault = (call, n) => {
      if (call === 'outcome' && n === 1)
        return { before: refusal('UPLOAD_INCOMPLETE', { missing: [2] }) }
      return undefined
    }
    const { job } = jobFor(service, fileOf(large).source)
    await upload(job)
    expect(stored()?.equals(large)).toBe(true)
    expect([count('part'), count('complete')]).toEqual([PARTS + 1, 2])
    expect(service.given).toEqual([1, 2].map(() => ({ crc32: crc32Of(large) })))
  })

  it.each([
    ['the network drops every third part', () => lost()],
    ['the service is unavailable', () => refusal('UNAVAILABLE', { retry_after: 1 })],
    ['the caller is too fast', () => refusal('RATE_LIMITED', { retry_after: 2 })],
  ])('arrives although %s', async (_, failure) => {
    service.fault = (call, n) =>
      call === 'part' && n % 3 === 0 ? { before: failure() } : undefined
    const { job, seen } = jobFor(service, fileOf(large).source)
    await upload(job)
    expect(stored()?.equals(large)).toBe(true)
    expect(seen).toMatchObject({ moved: SIZE, skipped: 0 })
    expect(seen.retries.length).toBeGreaterThan(2)
  })

  it('waits exactly as long as the service asks', async () => {
    service.fault = (call, n) =>
      call === 'part' && n === 1
        ? { before: refusal('RATE_LIMITED', { retry_after: 60 }) }
        : undefined
    const begun = performance.now()
    await upload(jobFor(service, fileOf(large).source).job)
    expect(performance.now() - begun).toBeGreaterThanOrEqual(600)
  })

  it('sends a part again after a lost response or a corrupted transfer', async () => {
    service.fault = (call, n) => {
      if (call !== 'part') return undefined
      return n === 2 ? { after: lost() } : n === 4 ? { corrupt: true } : undefined
    }
    const { job, seen } = jobFor(service, fileOf(large).source)
    await upload(job)
    expect(stored()?.equals(large)).toBe(true)
    expect([count('part'), seen.moved]).toEqual([PARTS + 2, SIZE])
    expect(service.given).toEqual([{ md5: md5(large) }])
  })

  it('is verified by its MD5 at the end if the service returns no part checksums', async () => {
    service.saysSums = false
    await upload(jobFor(service, fileOf(large).source).job)
    expect([service.given, stored()?.equals(large)]).toEqual([[{ md5: md5(large) }], true])
    service.files.clear()
    service.fault = (call, n) =>
      call === 'part' && n === PARTS + 4 ? { corrupt: true } : undefined
    await expect(upload(jobFor(service, fileOf(large).source).job)).rejects.toMatchObject({
      code: 'CHECKSUM_MISMATCH',
    })
    expect([service.files.size, service.sessions.size]).toEqual([0, 0])
  })

  it.each([true, false])(
    'is refused, and released, when its parts are mixed up (sums: %s)',
    async saysSums => {
      service.saysSums = saysSums
      service.fault = call => (call === 'complete' ? { mixes: true } : undefined)
      await expect(upload(jobFor(service, fileOf(large).source).job)).rejects.toMatchObject({
        code: 'CHECKSUM_MISMATCH',
      })
      expect([service.files.size, service.sessions.size]).toEqual([0, 0])
    },
  )

  it('gives up a part that is corrupted every time, and keeps the other parts', async () => {
    service.fault = call =>
      call === 'part' && service.calls.length > 6 ? { corrupt: true } : undefined
    const { job, seen } = jobFor(service, fileOf(large).source)
    await expect(upload(job)).rejects.toMatchObject({ code: 'UNREACHABLE' })
    expect(seen.session).toMatchObject({ size: SIZE, partCount: PARTS })

    // The service has the corrupted part, and another process cannot know which part it is.
    service.fault = () => undefined
    const next = jobFor(service, fileOf(large).source)
    next.seen.session = seen.session
    await upload(next.job)
    expect([stored()?.equals(large), count('start'), service.sessions.size]).toEqual([true, 2, 0])
    expect(service.given).toEqual([{ md5: md5(large) }, { crc32: crc32Of(large) }])
  })

  it('gives up during a long network failure, and sends the rest in a later process', async () => {
    service.fault = (call, n) => (call === 'part' && n > 4 ? { before: lost() } : undefined)
    const first = jobFor(service, fileOf(large).source)
    await expect(upload(first.job)).rejects.toMatchObject({ code: 'UNREACHABLE' })
    const there = [...service.sessions.values()][0]?.parts.size ?? 0
    expect(there).toBeGreaterThan(0)

    service.fault = () => undefined
    const before = count('part')
    const second = jobFor(service, fileOf(large).source)
    second.seen.session = first.seen.session
    await upload(second.job)
    expect(stored()?.equals(large)).toBe(true)
    expect([count('part') - before, count('start')]).toEqual([PARTS - there, 1])
    // The other process may have ended before it verified its parts.
    expect(service.given).toEqual([{ md5: md5(large) }])
    expect(second.seen.moved + second.seen.skipped).toBe(SIZE)
    expect(second.seen.moved).toBeLessThan(SIZE)
  })

  it('pauses in the middle of parts, and resumes without hashing twice', async () => {
    const file = fileOf(large)
    const digests = digestsOf(file.source)
    const { job, seen, interrupt } = jobFor(service, file.source, { digests })
    service.fault = (call, n) => (call === 'part' && n > 4 ? { hangs: true } : undefined)
    const paused = upload(job)
    paused.catch(() => {})
    while (service.load.now < 3 || service.calls.length < 7)
      await new Promise(resolve => setImmediate(resolve))
    interrupt.abort(refusal('INTERRUPTED'))
    await expect(paused).rejects.toMatchObject({ code: 'INTERRUPTED' })
    const there = [...service.sessions.values()][0]?.parts.size ?? 0
    // Unfinished transfers no longer count.
    expect([seen.moved, service.load.now]).toEqual([there * CHUNK, 0])

    service.fault = () => undefined
    const again = jobFor(service, file.source, { digests })
    again.seen.session = seen.session
    await upload(again.job)
    expect(stored()?.equals(large)).toBe(true)
    expect([file.digested(), again.seen.moved]).toEqual([SIZE, SIZE - there * CHUNK])
  })

  it('sends stalled parts again', async () => {
    service.fault = (call, n) => (call === 'part' && n === 2 ? { hangs: true } : undefined)
    const { job, seen } = jobFor(service, fileOf(large).source)
    await upload(job)
    expect(seen).toMatchObject({ moved: SIZE, retries: ['UNREACHABLE'] })
  })

  it('starts over when the service has forgotten the upload, before or during it', async () => {
    const { job, seen } = jobFor(service, fileOf(large).source)
    seen.session = {
      uploadId: 'gone',
      chunkSize: 5,
      partCount: 9,
      expiresAt: '',
      size: SIZE,
      mtimeMs: 1,
    }
    service.fault = (call, n) => {
      if (call === 'part' && n === 5) service.sessions.clear()
      return undefined
    }
    await upload(job)
    expect(stored()?.equals(large)).toBe(true)
    expect([count('start'), seen.moved + seen.skipped]).toEqual([2, SIZE])
  })

  it('starts over, and releases its reservation, when the path has another file now', async () => {
    const first = jobFor(service, fileOf(large).source)
    service.fault = (call, n) =>
      call === 'part' && n > 4 ? { before: refusal('FORBIDDEN') } : undefined
    await expect(upload(first.job)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    service.fault = () => undefined
    const other = randomBytes(SIZE)
    const second = jobFor(service, fileOf(other, 2).source)
    second.seen.session = first.seen.session
    await upload(second.job)
    expect(stored()?.equals(other)).toBe(true)
    expect([count('abort'), service.sessions.size]).toEqual([1, 0])
  })

  it('sends the parts that the service reports missing at the end', async () => {
    service.fault = (call, n) => {
      if (call === 'complete' && n === 1)
        for (const { parts } of service.sessions.values()) parts.delete(3)
      return undefined
    }
    const { job, seen } = jobFor(service, fileOf(large).source)
    await upload(job)
    expect(stored()?.equals(large)).toBe(true)
    expect([count('part'), seen.moved + seen.skipped]).toEqual([PARTS + 1, SIZE])
  })

  it('waits while the service is busy with it', async () => {
    service.fault = (call, n) =>
      call === 'complete' && n < 3 ? { before: refusal('UPLOAD_BUSY') } : undefined
    expect(await upload(jobFor(service, fileOf(large).source).job)).toMatchObject({
      status: 'uploaded',
    })
  })

  it('succeeds although the response to its completion was lost', async () => {
    service.fault = (call, n) =>
      call === 'complete' && n === 1 ? { after: refusal('UPLOAD_NOT_FOUND') } : undefined
    expect(await upload(jobFor(service, fileOf(large).source).job)).toMatchObject({
      status: 'uploaded',
    })
    expect(count('start')).toBe(1)
  })

  it('fails and is removed when its final digest differs', async () => {
    service.saysSums = false
    service.fault = call => (call === 'complete' ? { corrupt: true } : undefined)
    const { job, seen } = jobFor(service, fileOf(large).source)
    await expect(upload(job)).rejects.toMatchObject({
      code: 'DIGEST_DIFFERS',
      details: { sent: md5(large) },
    })
    expect([seen.session, service.sessions.size]).toEqual([null, 0])
  })

  it('fails, and releases its reservation, when it changes meanwhile', async () => {
    const file = fileOf(large)
    service.fault = call => {
      if (call === 'part') file.change()
      return undefined
    }
    const { job, seen } = jobFor(service, file.source)
    await expect(upload(job)).rejects.toMatchObject({ code: 'FILE_CHANGED' })
    expect([seen.session, service.sessions.size, service.files.size]).toEqual([null, 0, 0])
  })

  it('is not sent if the path has it already, and is refused if the path has another file', async () => {
    service.files.set('docs/a.bin', large)
    const { job, seen } = jobFor(service, fileOf(large).source)
    expect(await upload(job)).toMatchObject({ status: 'unchanged' })
    expect([count('part'), seen.moved, seen.skipped]).toEqual([0, 0, SIZE])
    const other = fileOf(randomBytes(SIZE + 1))
    await expect(upload(jobFor(service, other.source).job)).rejects.toMatchObject({
      code: 'PATH_EXISTS',
    })
    // A file with another size is another file.
    expect(other.digested()).toBe(0)
  })

  it('keeps its parts for another name when its own name is taken at the end', async () => {
    service.fault = (call, n) => {
      if (call === 'complete' && n === 1) service.files.set('docs/a.bin', small)
      return undefined
    }
    const { job, seen } = jobFor(service, fileOf(large).source)
    await expect(upload(job)).rejects.toMatchObject({ code: 'PATH_EXISTS' })
    const before = count('part')
    const again = jobFor(service, job.source, { aim: { folder: 'docs', fileName: 'a (1).bin' } })
    again.seen.session = seen.session
    await upload(again.job)
    expect(service.files.get('docs/a (1).bin')?.equals(large)).toBe(true)
    expect(count('part')).toBe(before)
  })

  it.each(['start', 'received'])('is refused immediately where %s is', async call => {
    service.fault = name => (name === call ? { before: refusal('QUOTA_EXCEEDED') } : undefined)
    const { job, seen } = jobFor(service, fileOf(large).source)
    if (call === 'received')
      seen.session = {
        uploadId: 'x',
        chunkSize: 5,
        partCount: 9,
        expiresAt: '',
        size: SIZE,
        mtimeMs: 1,
      }
    await expect(upload(job)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' })
    expect(count('part')).toBe(0)
  })
})

describe('A small file', () => {
  it.each([small, new Uint8Array()])('goes in one request', async bytes => {
    const { job, seen } = jobFor(service, fileOf(bytes).source)
    expect(await upload(job)).toEqual({
      size: bytes.length,
      md5: md5(bytes),
      fileName: 'a.bin',
      status: 'uploaded',
    })
    expect([service.calls, seen.moved]).toEqual([['whole'], bytes.length])
  })

  it('arrives although the network fails twice, once after its arrival', async () => {
    service.fault = (call, n) => {
      if (call !== 'whole') return undefined
      return n === 1 ? { before: lost() } : n === 2 ? { after: lost() } : undefined
    }
    const { job, seen } = jobFor(service, fileOf(small).source)
    expect(await upload(job)).toMatchObject({ status: 'uploaded' })
    expect(seen).toMatchObject({
      moved: 0,
      skipped: small.length,
      retries: ['UNREACHABLE', 'UNREACHABLE'],
    })
  })

  it('is removed when the service has stored other bytes', async () => {
    service.fault = call => (call === 'whole' ? { corrupt: true } : undefined)
    const { job } = jobFor(service, fileOf(small).source)
    await expect(upload(job)).rejects.toMatchObject({ code: 'DIGEST_DIFFERS' })
    expect(service.files.size).toBe(0)
  })

  it('is not sent if its bytes changed after hashing', async () => {
    const file = fileOf(small)
    file.change()
    await expect(upload(jobFor(service, file.source).job)).rejects.toMatchObject({
      code: 'FILE_CHANGED',
    })
    expect(service.calls).toEqual([])
  })

  it('is refused if the path has another file, and unchanged if the path has the same file', async () => {
    service.files.set('docs/a.bin', randomBytes(1000))
    await expect(upload(jobFor(service, fileOf(small).source).job)).rejects.toMatchObject({
      code: 'PATH_EXISTS',
    })
    service.files.set('docs/a.bin', small)
    expect(await upload(jobFor(service, fileOf(small).source).job)).toMatchObject({
      status: 'unchanged',
    })
  })

  it('shares the request limit with all other files', async () => {
    const limit = pLimit(2)
    const names = Array.from({ length: 6 }, (_, i) => `${i}.txt`)
    let most = 0
    service.fault = () => {
      most = Math.max(most, limit.activeCount)
      return undefined
    }
    await Promise.all(
      names.map(fileName =>
        upload(jobFor(service, fileOf(small).source, { limit, aim: { folder: '', fileName } }).job),
      ),
    )
    expect([most, [...service.files.keys()].sort()]).toEqual([2, names])
  })
})

describe('The transfer watchdog', () => {
  const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length

  it('does not wait when the response arrives before all bytes were sent', () => {
    const before = timers()
    const watchdog = watch(new AbortController().signal, 'example.com')
    watchdog.touch()
    expect(timers()).toBe(before + 1)
    watchdog.stop()
    watchdog.touch()
    watchdog.waitForAnswer()
    expect(timers()).toBe(before)
    expect(watchdog.signal.aborted).toBe(false)
  })
})

describe('A transfer rate', () => {
  it('covers the last seconds, and is never negative', () => {
    let time = 0
    const moved = meter(() => time)
    expect(moved.rate()).toBe(0)
    for (time = 1000; time <= 10_000; time += 1000) {
      moved.add(500)
      expect(moved.rate()).toBe(500)
    }
    moved.add(-9000)
    expect(moved.rate()).toBe(0)
    time = 60_000
    expect(moved.rate()).toBe(0)
  })
})

describe('The name of a copy', () => {
  it.each([
    ['a.txt', 2, 'a (2).txt'],
    ['a.tar.gz', 3, 'a (3).tar.gz'],
    ['.tar.gz', 2, '.tar (2).gz'],
    ['.profile', 2, '.profile (2)'],
    ['README', 12, 'README (12)'],
    ['v1.2 final', 2, 'v1.2 final (2)'],
    [`a.${'x'.repeat(15)}`, 2, `a (2).${'x'.repeat(15)}`],
    [`a.${'x'.repeat(16)}`, 2, `a.${'x'.repeat(16)} (2)`],
    [`${'ä'.repeat(125)}.txt`, 2, `${'ä'.repeat(123)} (2).txt`],
    [`a.${'x'.repeat(253)}`, 2, `a.${'x'.repeat(249)} (2)`],
  ])('of %s', (name, copy, expected) => {
    expect(copyName(name, copy)).toBe(expected)
    expect(Buffer.byteLength(expected)).toBeLessThanOrEqual(limits.nameBytes)
  })
})
