import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { findFolders } from '../config.ts'
import type { Place } from '../place.ts'
import type { Fingerprint } from './local-file.ts'

/** An upload in parts that has begun, as it outlives this process. */
export interface UploadState extends Fingerprint {
  url: string
  workspaceId: string
  /** The local file. */
  path: string
  uploadId: string
  chunkSize: number
  partCount: number
  expiresAt: string
}

/** Where the state of an upload is kept: one file for every local file and place. */
export interface UploadStates {
  read(): Promise<UploadState | null>
  write(state: UploadState): Promise<void>
  remove(): Promise<void>
}

export async function uploadStateOf(path: string, { client: { url }, workspaceId }: Place): Promise<UploadStates> {
  const { uploads } = await findFolders()
  const local = await realpath(path)
  const key = createHash('sha256')
    .update(JSON.stringify([url, workspaceId, local]))
    .digest('hex')
  const file = join(uploads, `${key}.json`)
  return {
    async read() {
      const state = await readState(file)
      return state && state.url === url && state.workspaceId === workspaceId && state.path === local ? state : null
    },
    async write(state) {
      await mkdir(uploads, { recursive: true, mode: 0o700 })
      await writeFileAtomic(file, `${JSON.stringify({ ...state, path: local }, null, 2)}\n`, { mode: 0o600 })
      await forgetExpired(uploads)
    },
    remove: () => rm(file, { force: true }),
  }
}

async function readState(file: string): Promise<UploadState | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as UploadState
  } catch {
    // It is not there, or worth nothing: the upload begins anew.
    return null
  }
}

/** A day after its end, the service does not know an upload any more. */
async function forgetExpired(folder: string): Promise<void> {
  const yesterday = Date.now() - 86_400_000
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.json')) continue
    const state = await readState(join(folder, name))
    if (!state || Date.parse(state.expiresAt) < yesterday) await rm(join(folder, name), { force: true })
  }
}
