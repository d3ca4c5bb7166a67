import pLimit from 'p-limit'
import { sourcesOf } from '../../upload-engine/browser/source.ts'
import { digestsOf } from '../../upload-engine/digests.ts'
import type { SessionStore, StoredSession } from '../../upload-engine/job.ts'
import { uploadQueue, type Work } from '../../upload-engine/queue.ts'
import { abandon, uploadInParts } from '../../upload-engine/upload.ts'
import { type Kept, keptIn } from './kept.ts'
import type { Place } from './service.ts'
import { transportOf } from './transport.ts'

/** Files in progress at a time: one is sent while another is hashed. */
const FILES = 3
/** Concurrent upload requests. */
const REQUESTS = 3
/** Retries for as long as the page is open. */
const RETRIES = 100_000

/**
 * Uploads files to a file request. Interrupted uploads of an earlier page load are in the queue,
 * and resume when their file is chosen again.
 *
 * @param check throws a failure for a file that should not be sent
 */
export function uploadsTo(place: Place, check: (file: File) => void) {
  const { sourceOf } = sourcesOf({
    fileChanged: () => place.texts.fileChanged,
    noWorker: () => place.texts.noWorker,
  })
  const queue = uploadQueue({ atOnce: FILES })
  const limit = pLimit(REQUESTS)
  const kept = keptIn(place.api)

  const sessionsOf = (id: string): SessionStore => {
    const write = async (session?: StoredSession) => kept.change(id, { session })
    return { read: async () => kept.find(id)?.session ?? null, write, remove: () => write() }
  }

  const entryOf = ({ id, name, size, type }: Kept) => ({
    id,
    size,
    aim: { folder: '', fileName: name },
    async abandon() {
      const patience = {
        signal: new AbortController().signal,
        retries: RETRIES,
        maintenanceSeconds: Number.POSITIVE_INFINITY,
        onRetry() {},
      }
      await abandon({ sessions: sessionsOf(id), transport: transportOf(place, type, patience) })
      kept.remove(id)
    },
  })

  function workOf(id: string, file: File): Work {
    const source = sourceOf(file)
    const digests = digestsOf(source)
    return {
      async upload({ aim, signal, progress, onRetry }) {
        check(file)
        const patience = {
          signal,
          retries: RETRIES,
          maintenanceSeconds: Number.POSITIVE_INFINITY,
          onRetry,
        }
        const transport = transportOf(place, file.type, patience)
        const sessions = sessionsOf(id)
        const stored = await uploadInParts({
          source,
          digests,
          aim,
          transport,
          sessions,
          progress,
          limit,
          patience,
        })
        kept.remove(id)
        return stored
      },
      close: () => digests.close(),
    }
  }

  /** The interrupted upload to which a file belongs. */
  const interruptedBy = ({ name, size, lastModified }: File) =>
    queue
      .snapshot()
      .uploads.filter(({ phase }) => phase === 'detached')
      .map(({ id }) => kept.find(id))
      .find(one => one?.name === name && one.size === size && one.mtimeMs === lastModified)

  queue.add(kept.all().map(one => ({ ...entryOf(one), work: null })))

  return {
    queue,

    add(files: readonly File[]): void {
      for (const file of files) {
        const interrupted = interruptedBy(file)
        if (interrupted) queue.attach(interrupted.id, workOf(interrupted.id, file), file.size)
        else {
          const { name, size, type, lastModified: mtimeMs } = file
          const one = {
            id: crypto.getRandomValues(new Uint32Array(4)).join('-'),
            name,
            size,
            type,
            mtimeMs,
          }
          kept.add(one)
          queue.add([{ ...entryOf(one), work: workOf(one.id, file) }])
        }
      }
    },
  }
}
