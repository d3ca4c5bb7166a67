import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { isRunning } from '../../runtime/is-running.ts'
import type { Mounted } from './registry.ts'

const run = promisify(execFile)

/**
 * Whether the process of a mount is running. After a reboot, another process may have its id, and
 * must not be killed.
 */
export async function isServing({ pid, id, with: mounter }: Mounted): Promise<boolean> {
  if (pid === null || !isRunning(pid)) return false
  try {
    // Its arguments contain the folder of the mount.
    return (await describe(pid)).includes(process.platform === 'win32' ? mounter : id)
  } catch {
    // The process has just ended, or the system does not report its arguments. In the latter case,
    // nothing is cleaned up.
    return isRunning(pid)
  }
}

async function describe(pid: number): Promise<string> {
  if (process.platform === 'linux') return readFile(`/proc/${pid}/cmdline`, 'utf8')
  const [program, args] =
    process.platform === 'win32'
      ? ['tasklist', ['/NH', '/FI', `PID eq ${pid}`]]
      : ['ps', ['-ww', '-o', 'args=', '-p', String(pid)]]
  return (await run(program, args)).stdout
}
