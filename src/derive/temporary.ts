import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRunning } from '../runtime/is-running.ts'

const PREFIX = 'satchel-derive-'
/** Those of this process. After a start of a container, an earlier process had the same number. */
const own = new Set<string>()

/**
 * Makes a folder for copies of what is in the store. Those of processes that were killed go: they
 * have bytes of people's files.
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
    // Another user's stays.
    await rm(path, { recursive: true, force: true }).catch(() => {})
  }
  return folder
}
