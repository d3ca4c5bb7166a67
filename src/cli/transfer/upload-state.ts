import { createHash } from 'node:crypto'
import { readdir, readFile, realpath, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import type { SessionStore, StoredSession } from '../../upload-engine/job.ts'
import { findFolders } from '../config.ts'
import { Failure } from '../failure.ts'
import type { OnConflict } from '../generated.ts'
import { type Holder, nameOf, withLock } from '../lock.ts'
import type { FilesPlace } from '../place.ts'
import { wordOf } from '../words.ts'

/** The persistent state of a multipart upload. */
interface UploadState extends StoredSession {
  url: string
  /** Key of the place. */
  place: string
  /** The local file. */
  path: string
}

/** Stores the state of uploads: one file per local file and place. */
export interface UploadStates extends SessionStore {
  /**
   * Runs `work` under a lock for this file and place.
   *
   * @throws UPLOAD_BUSY
   */
  alone<T>(work: () => Promise<T>): Promise<T>
}

export async function uploadStateOf(
  path: string,
  { client: { url }, key: place }: FilesPlace,
  onConflict: OnConflict,
): Promise<UploadStates> {
  const { uploads } = await findFolders()
  const local = await realpath(path)
  const key = createHash('sha256')
    // The conflict rule of an upload is fixed at its start.
    .update(
      JSON.stringify([url, place, local, ...(onConflict === 'FAIL' ? [] : [wordOf(onConflict)])]),
    )
    .digest('hex')
  const file = join(uploads, `${key}.json`)
  return {
    alone: work => withLock(join(uploads, `${key}.lock`), holder => busy(holder, local), work),
    async read() {
      const state = await readState(file)
      return state && state.url === url && state.place === place && state.path === local
        ? state
        : null
    },
    async write(session) {
      const state: UploadState = { ...session, url, place, path: local }
      await writeFileAtomic(file, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 })
      await forgetExpired(uploads)
    },
    remove: () => rm(file, { force: true }),
  }
}

const busy = (holder: Holder, local: string): Failure =>
  new Failure('UPLOAD_BUSY', `${nameOf(holder)} is uploading ${local}. Wait until it ends.`, {
    ...holder,
  })

async function readState(file: string): Promise<UploadState | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as UploadState
  } catch {
    // Missing or corrupt: the upload starts over.
    return null
  }
}

const DAY_MS = 86_400_000
const UNUSED_MS = 180 * DAY_MS

/** Deletes the state of uploads that expired more than a day ago, and old unused locks. */
async function forgetExpired(folder: string): Promise<void> {
  const yesterday = Date.now() - DAY_MS
  for (const name of await readdir(folder)) {
    if (name.endsWith('.lock')) {
      const { mtimeMs } = await stat(join(folder, name)).catch(() => ({ mtimeMs: yesterday }))
      if (mtimeMs < Date.now() - UNUSED_MS) await rm(join(folder, name), { force: true })
    }
    if (!name.endsWith('.json')) continue
    const state = await readState(join(folder, name))
    if (!state || Date.parse(state.expiresAt) < yesterday)
      await rm(join(folder, name), { force: true })
  }
}
