import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRunning } from '../runtime/is-running.ts'

const PREFIX = 'satchel-derive-'
/**
 * The folders of this process. After a restart of a container, an earlier process may have had the
 * same id.
 */
const own = new Set<string>()

/**
 * Creates a folder for temporary copies of stored files. Removes the folders of killed processes,
 * which contain users' files.
 */
export async function makeTemporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`))
  own.add(folder)
  for (const name of await readdir(tmpdir())) {
    const path = join(tmpdir(), name)
    const [, pid] = new RegExp(`^${PREFIX}(\\d+)-`).exec(name) ?? []
    if (
      pid === undefined ||
      own.has(path) ||
      (Number(pid) !== process.pid && isRunning(Number(pid)))
    )
      continue
    // A folder of another user cannot be removed.
    await rm(path, { recursive: true, force: true }).catch(() => {})
  }
  return folder
}
