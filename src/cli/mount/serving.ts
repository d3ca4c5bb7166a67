import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { isRunning } from '../../runtime/is-running.ts'
import type { Mounted } from './registry.ts'

const run = promisify(execFile)

/** Whether the program of a mount runs. After a restart of the computer, another process may have its id, which must not be ended. */
export async function isServing({ pid, id, with: mounter }: Mounted): Promise<boolean> {
  if (pid === null || !isRunning(pid)) return false
  const [program, args, named] =
    process.platform === 'win32'
      ? ['tasklist', ['/NH', '/FI', `PID eq ${pid}`], mounter]
      : // Its arguments have the folder of the mount.
        ['ps', ['-ww', '-o', 'args=', '-p', String(pid)], id]
  const said = await run(program, args).catch(error => {
    // In a container, ps may be missing; it fails where there is no such process.
    return error.code === 'ENOENT' ? { stdout: named } : { stdout: '' }
  })
  return said.stdout.includes(named)
}
