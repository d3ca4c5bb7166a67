import { randomBytes } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import pLimit from 'p-limit'
import { digestsOf } from '../../src/upload-engine/digests.ts'
import type { StoredSession } from '../../src/upload-engine/job.ts'
import { type NewUpload, uploadQueue } from '../../src/upload-engine/queue.ts'
import type { Phase } from '../../src/upload-engine/snapshot.ts'
import { abandon, SMALL, upload } from '../../src/upload-engine/upload.ts'
import { until } from '../support/until.ts'
import { BadService, fileOf, refusal } from './upload-engine-service.ts'

const CHUNK = 1024 * 1024
const LARGE = randomBytes(SMALL + 17)

/** A queue that uploads to a service, with the reservations of each file. */
function open(service: BadService, atOnce = 3) {
  const queue = uploadQueue({ atOnce })
  const limit = pLimit(2)
  const closed: string[] = []

  function uploadOf(fileName: string, bytes: Uint8Array): NewUpload {
    const { source } = fileOf(bytes)
    let session: StoredSession | null = null
    const sessions = {
      read: async () => session,
      write: async (written: StoredSession) => {
        session = written
      },
      remove: async () => {
        session = null
      },
    }
    const digests = digestsOf(source)
    return {
      id: fileName,
      aim: { folder: '', fileName },
      size: bytes.length,
      abandon: () => abandon({ sessions, transport: service }),
      work: {
        upload: ({ aim, signal, progress, onRetry }) =>
          upload({
            source,
            digests,
            aim,
            transport: service,
            sessions,
            progress,
            limit,
            patience: { signal, retries: 1, onRetry },
          }),
        close: () => void closed.push(fileName),
      },
    }
  }

  const phases = () => queue.snapshot().uploads.map(({ aim, phase }) => `${aim.fileName} ${phase}`)
  const phaseOf = (id: string) => queue.snapshot().uploads.find(upload => upload.id === id)?.phase
  const all = (...wanted: Phase[]) =>
    queue.snapshot().uploads.every(({ phase }) => wanted.includes(phase))
  return { queue, uploadOf, phases, phaseOf, all, closed }
}

const tiny = (count: number) =>
  Array.from({ length: count }, (_, i) => [`${i}.txt`, randomBytes(100)] as const)

describe('An upload queue', () => {
  it('replaces an existing file after a decision, and asks again when that fails', async () => {
    const { queue, phases, all } = open(new BadService(CHUNK))
    const asked: boolean[] = []
    const uploadOf = (fileName: string, isFolder: boolean): NewUpload => ({
      id: fileName,
      aim: { folder: '', fileName },
      size: 1,
      abandon: async () => {},
      work: {
        async upload({ aim, replaces }) {
          asked.push(replaces)
          const isFree = aim.fileName !== fileName
          if (!isFree && (!replaces || isFolder)) throw refusal('PATH_EXISTS')
          return { md5: '', fileName, size: 1, status: 'uploaded' }
        },
        close() {},
      },
    })
    queue.add([uploadOf('a.txt', false), uploadOf('folder', true)])
    await until(() => all('conflict'))
    queue.resolve('replace')
    await until(() => asked.length === 4 && all('uploaded', 'conflict'))
    expect(phases()).toEqual(['a.txt uploaded', 'folder conflict'])
    queue.resolve('copy')
    await until(() => all('uploaded'))
    expect(phases()).toEqual(['a.txt uploaded', 'folder (2) uploaded'])
    expect(asked).toEqual([false, false, true, true, false])
  })

  it('sends all files, a few at a time, and counts them', async () => {
    const service = new BadService(CHUNK)
    const { queue, uploadOf, all, closed } = open(service)
    const files = tiny(40)
    let most = 0
    let told = 0
    const stop = queue.subscribe(() => {
      told++
    })
    service.fault = () => {
      most = Math.max(most, queue.snapshot().total.phases.uploading)
      return undefined
    }
    queue.add(files.map(file => uploadOf(...file)))
    expect(queue.snapshot().total).toMatchObject({
      size: 4000,
      sent: 0,
      phases: { uploading: 3, waiting: 37 },
    })
    await until(() => all('uploaded'))
    for (const [name, bytes] of files) expect(service.files.get(name)?.equals(bytes)).toBe(true)
    expect(queue.snapshot().total).toMatchObject({
      size: 4000,
      sent: 4000,
      phases: { uploaded: 40 },
    })
    expect([most, closed.length]).toEqual([3, 40])
    // The queue does not notify for every change.
    expect(told).toBeGreaterThan(0)
    expect(told).toBeLessThan(40)
    stop()
    // Finished files make room.
    queue.add([uploadOf('next.txt', randomBytes(5))])
    expect(queue.snapshot().total.size).toBe(5)
  })

  it('returns the same object until something changes', async () => {
    const { queue, uploadOf, all } = open(new BadService(CHUNK))
    expect(queue.snapshot()).toBe(queue.snapshot())
    const before = queue.snapshot()
    queue.add([uploadOf('a.txt', randomBytes(5))])
    expect(queue.snapshot()).not.toBe(before)
    await until(() => all('uploaded'))
  })

  it('pauses one file in the middle of a part while others continue, and resumes it immediately', async () => {
    const service = new BadService(CHUNK)
    service.fault = (call, n) => (call === 'part' && n > 3 ? { hangs: true } : undefined)
    const { queue, uploadOf, phaseOf, all } = open(service)
    queue.add([uploadOf('large.bin', LARGE), ...tiny(5).map(file => uploadOf(...file))])
    await until(() => service.load.now === 2)
    const { sent } = queue.snapshot().uploads[0] ?? { sent: 0 }
    queue.pause(['large.bin'])
    expect(phaseOf('large.bin')).toBe('paused')
    await until(() => service.files.size === 5)
    service.fault = () => undefined
    queue.resume(['large.bin'])
    // The progress bar does not jump back to zero.
    expect(queue.snapshot().uploads[0]?.sent).toBe(sent)
    await until(() => all('uploaded'))
    expect(service.files.get('large.bin')?.equals(LARGE)).toBe(true)
    expect(service.calls.filter(call => call === 'start')).toHaveLength(1)
  })

  it('pauses and resumes as a whole', async () => {
    const service = new BadService(CHUNK)
    service.fault = call => (call === 'whole' ? { hangs: true } : undefined)
    const { queue, uploadOf, all } = open(service)
    queue.add(tiny(9).map(file => uploadOf(...file)))
    queue.pause()
    expect(all('paused')).toBe(true)
    service.fault = () => undefined
    queue.resume()
    await until(() => all('uploaded'))
    expect(service.files.size).toBe(9)
  })

  it('cancels running, waiting and failed files, and releases their reservations', async () => {
    const service = new BadService(CHUNK)
    service.fault = (call, n) => (call === 'part' && n > 3 ? { hangs: true } : undefined)
    const { queue, uploadOf, phases } = open(service, 1)
    queue.add([uploadOf('large.bin', LARGE), uploadOf('small.txt', randomBytes(5))])
    await until(() => service.load.now === 2)
    queue.cancel(['large.bin'])
    expect(phases()).toEqual(['small.txt waiting'])
    await until(() => phases()[0] === 'small.txt uploaded')
    expect(service.sessions.size).toBe(0)

    service.fault = call => (call === 'part' ? { before: refusal('FORBIDDEN') } : undefined)
    queue.add([uploadOf('large.bin', LARGE)])
    await until(() => phases()[0] === 'large.bin failed')
    expect(service.sessions.size).toBe(1)
    queue.cancel()
    await until(() => service.sessions.size === 0)
    expect(queue.snapshot().uploads).toEqual([])
  })

  it('reports failures, continues with the rest, and retries on request', async () => {
    const service = new BadService(CHUNK)
    service.fault = (call, n) =>
      call === 'whole' && n === 2 ? { before: refusal('FILE_TOO_LARGE') } : undefined
    const { queue, uploadOf, all, phases } = open(service, 1)
    queue.add(tiny(3).map(file => uploadOf(...file)))
    await until(() => all('uploaded', 'failed'))
    expect(phases()).toEqual(['0.txt uploaded', '1.txt failed', '2.txt uploaded'])
    expect(queue.snapshot().uploads[1]?.failure).toMatchObject({ code: 'FILE_TOO_LARGE' })
    queue.resume()
    await until(() => all('uploaded'))
  })

  it('shows why a file is retried, until its bytes move', async () => {
    const service = new BadService(CHUNK)
    service.fault = (call, n) =>
      call === 'whole' && n === 1 ? { before: refusal('UNAVAILABLE') } : undefined
    const { queue, uploadOf, all } = open(service)
    queue.add([uploadOf('a.txt', randomBytes(5))])
    await until(() => queue.snapshot().uploads[0]?.failure?.code === 'UNAVAILABLE')
    expect(all('uploading')).toBe(true)
    await until(() => all('uploaded'))
    expect(queue.snapshot().uploads[0]?.failure).toBeNull()
  })

  it('pauses all files when the session has expired, and loses none', async () => {
    const service = new BadService(CHUNK)
    service.fault = call => (call === 'whole' ? { before: refusal('UNAUTHENTICATED') } : undefined)
    const { queue, uploadOf, all } = open(service)
    queue.add(tiny(10).map(file => uploadOf(...file)))
    await until(() => all('paused'))
    expect(service.calls.length).toBeLessThanOrEqual(3)
    service.fault = () => undefined
    queue.resume()
    await until(() => all('uploaded'))
    expect(service.files.size).toBe(10)
  })

  it('asks about taken names once for all files', async () => {
    const service = new BadService(CHUNK)
    for (const name of ['0.txt', '1.txt', '1 (2).txt', '2.txt'])
      service.files.set(name, randomBytes(7))
    const { queue, uploadOf, all, phases } = open(service, 1)
    queue.add(tiny(4).map(file => uploadOf(...file)))
    await until(() => all('conflict', 'uploaded'))
    expect(phases()).toEqual([
      '0.txt conflict',
      '1.txt conflict',
      '2.txt conflict',
      '3.txt uploaded',
    ])
    queue.resolve('skip', ['2.txt'])
    expect(phases()[2]).toBe('2.txt skipped')
    queue.resolve('copy')
    await until(() => all('uploaded', 'skipped'))
    expect([...service.files.keys()].sort()).toEqual([
      ...['0 (2).txt', '0.txt', '1 (2).txt', '1 (3).txt', '1.txt', '2.txt', '3.txt'],
    ])
    expect(phases()).toEqual([
      '0 (2).txt uploaded',
      '1 (3).txt uploaded',
      '2.txt skipped',
      '3.txt uploaded',
    ])
  })

  it('retries a failed file under another name, with a number if the name is taken', async () => {
    const service = new BadService(CHUNK)
    service.files.set('a-b.txt', randomBytes(7))
    service.fault = call => (call === 'whole' ? { before: refusal('INVALID_PATH') } : undefined)
    const { queue, uploadOf, all, phases } = open(service)
    queue.add([uploadOf('a\\b.txt', randomBytes(5))])
    await until(() => all('failed'))
    service.fault = () => undefined
    queue.rename(queue.snapshot().uploads[0]?.id ?? '', 'a-b.txt')
    await until(() => all('conflict'))
    queue.resolve('copy')
    await until(() => all('uploaded'))
    expect(phases()).toEqual(['a-b (2).txt uploaded'])
  })

  it('fails where a file is in the place of a folder, without asking for another name', async () => {
    const service = new BadService(CHUNK)
    service.fault = call =>
      call === 'whole' ? { before: refusal('PATH_EXISTS', { path: '/docs' }) } : undefined
    const { queue, uploadOf, all } = open(service)
    queue.add([uploadOf('a.txt', randomBytes(5))])
    queue.resolve('copy')
    await until(() => all('failed'))
  })

  it('applies a decision to later files as well', async () => {
    const service = new BadService(CHUNK)
    for (const [name] of tiny(5)) service.files.set(name, randomBytes(7))
    const { queue, uploadOf, all } = open(service, 1)
    queue.add(tiny(5).map(file => uploadOf(...file)))
    queue.resolve('skip')
    await until(() => all('skipped'))
    expect(queue.snapshot().total).toMatchObject({ size: 500, sent: 500 })
  })

  it('resumes a file of an earlier run once it is selected again', async () => {
    const service = new BadService(CHUNK)
    const { queue, uploadOf, phases } = open(service)
    const { work, ...earlier } = uploadOf('large.bin', LARGE)
    queue.add([{ ...earlier, work: null }])
    queue.resume()
    expect(phases()).toEqual(['large.bin detached'])
    if (work) queue.attach('large.bin', work, LARGE.length)
    await until(() => phases()[0] === 'large.bin uploaded')
  })
})
