import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The memory limit of a process in bytes, including the memory of libraries. */
export const MEMORY = 512 * 1024 * 1024
/** Extra memory for the system's accounting, and for allocations before the limit is set. */
export const MARGIN = 32 * 1024 * 1024
/** The interval for checking a process's memory. */
export const WATCH_MS = 50
/** The whole environment of a process. */
export const ENVIRONMENT = {
  PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
  MALLOC_ARENA_MAX: '2',
}
const PAGE = 4096

/** Whether a system command works. */
export const works = (...[command, args]: [string, string[]]): Promise<boolean> =>
  new Promise(resolve => execFile(command, args, { timeout: 5000 }, error => resolve(!error)))

type Command = 'shell' | 'nice' | 'setpriv' | 'unshare' | 'prlimit'
let commands: Promise<Record<Command, boolean>> | undefined

/** The sandboxing commands of the system. Checked once. */
export function available() {
  commands ??= (async () => {
    const [shell, nice, setpriv, unshare, prlimit] = await Promise.all([
      works('/bin/sh', ['-c', 'ulimit -t 60']),
      works('nice', ['-n', '1', 'true']),
      works('setpriv', ['--no-new-privs', 'true']),
      // Unavailable in most containers. The process still has no code that opens connections.
      works('unshare', ['--net', '--map-root-user', 'true']),
      works('prlimit', ['--version']),
    ])
    return { shell, nice, setpriv, unshare, prlimit }
  })()
  return commands
}

/**
 * The command line that runs a program at low priority, with system limits, without privilege
 * escalation, and without a network if the system supports that. The program keeps the process id.
 * @param memory the memory limit in bytes, if known in advance
 * @param writes whether it may write files; otherwise an attempt kills it
 */
export async function bounded(
  words: string[],
  {
    processorSeconds,
    memory,
    writes = true,
  }: { processorSeconds: number; memory?: number; writes?: boolean },
): Promise<[string, string[]]> {
  const { shell, nice, setpriv, unshare } = await available()
  const [command = '', ...args] = [
    ...(setpriv ? ['setpriv', '--no-new-privs'] : []),
    ...(unshare ? ['unshare', '--net', '--map-root-user'] : []),
    ...(nice ? ['nice', '-n', '15'] : []),
    ...words,
  ]
  if (!shell) return [command, args]
  const limits = [
    // When memory is short, the system kills such a process before the service.
    'echo 900 2>/dev/null >/proc/self/oom_score_adj',
    'ulimit -c 0',
    `ulimit -t ${processorSeconds}`,
    ...(memory === undefined ? [] : [`ulimit -d ${Math.floor(memory / 1024)}`]),
    ...(writes ? [] : ['ulimit -f 0']),
    'exec "$@"',
  ]
  return ['/bin/sh', ['-c', limits.join('; '), 'sh', command, ...args]]
}

/**
 * The resident and data memory of a process in bytes; undefined if the system does not report it.
 */
export function memoryOf(pid: number): { resident: number; data: number } | undefined {
  try {
    const [, resident = 0, , , , data = 0] = readFileSync(`/proc/${pid}/statm`, 'latin1')
      .split(' ')
      .map(Number)
    return { resident: resident * PAGE, data: data * PAGE }
  } catch {
    return undefined
  }
}
