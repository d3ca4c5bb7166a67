import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { findFolders } from '../config.ts'
import { Failure } from '../failure.ts'
import { type Holder, nameOf, withLock } from '../lock.ts'
import type { KnownDigest } from './local-tree.ts'
import type { RemoteState } from './remote-tree.ts'

/** The state of a synced pair from earlier runs. Without it, a run lists and reads everything. */
export interface PairState {
  remote: RemoteState | null
  /** Digests of local files by path. */
  digests: Map<string, KnownDigest>
}

export interface PairStates {
  /**
   * Runs `work` while no other process syncs this pair.
   *
   * @throws SYNC_BUSY
   */
  alone<T>(work: () => Promise<T>): Promise<T>
  read(): Promise<PairState>
  write(state: PairState): Promise<void>
}

/** The failure if another process syncs a local folder. */
export const syncBusy = (local: string) => (holder: Holder) =>
  new Failure('SYNC_BUSY', `${nameOf(holder)} is synchronizing ${local}. Wait until it ends.`, {
    ...holder,
  })

/** Version of the file format. */
const VERSION = 1

/** @param pair service, workspace, remote path and local folder */
export async function pairStates(pair: string[], local: string): Promise<PairStates> {
  const { syncs } = await findFolders()
  const key = createHash('sha256').update(JSON.stringify(pair)).digest('hex')
  const file = join(syncs, `${key}.json`)
  return {
    alone: work => withLock(join(syncs, `${key}.lock`), syncBusy(local), work),

    async read() {
      try {
        const { version, remote, digests } = JSON.parse(await readFile(file, 'utf8'))
        if (version === VERSION) return { remote, digests: new Map(digests) }
      } catch {
        // Missing or corrupt: all of it can be rebuilt.
      }
      return { remote: null, digests: new Map() }
    },

    async write({ remote, digests }) {
      await mkdir(syncs, { recursive: true, mode: 0o700 })
      const text = JSON.stringify({ version: VERSION, pair, remote, digests: [...digests] })
      await writeFileAtomic(file, text, { mode: 0o600 })
      await forgetUnused(syncs)
    },
  }
}

const UNUSED_MS = 180 * 86_400_000

/** Deletes the state of pairs that have not been synced for a long time. */
export async function forgetUnused(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!/\.(json|db)$/.test(name)) continue
    const path = join(folder, name)
    const found = await stat(path).catch(() => null)
    if (found && found.mtimeMs < Date.now() - UNUSED_MS)
      for (const end of ['', '-wal', '-shm']) await rm(path + end, { force: true })
  }
}
