import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** What a process may hold, in bytes: the memory of libraries counts as well. */
export const MEMORY = 512 * 1024 * 1024
/** What is left for what the system counts, and for what is allocated before the limit is set. */
export const MARGIN = 32 * 1024 * 1024
/** How often the size of a process is looked at. */
export const WATCH_MS = 50
/** All that a process knows of the environment. */
export const ENVIRONMENT = {
  PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
  MALLOC_ARENA_MAX: '2',
}
const PAGE = 4096

/** Whether a command of the system works. */
export const works = (...[command, args]: [string, string[]]): Promise<boolean> =>
  new Promise(resolve => execFile(command, args, { timeout: 5000 }, error => resolve(!error)))

type Command = 'shell' | 'nice' | 'setpriv' | 'unshare' | 'prlimit'
let commands: Promise<Record<Command, boolean>> | undefined

/** What the system has for keeping a process within bounds. Asked once. */
export function available() {
  commands ??= (async () => {
    const [shell, nice, setpriv, unshare, prlimit] = await Promise.all([
      works('/bin/sh', ['-c', 'ulimit -t 60']),
      works('nice', ['-n', '1', 'true']),
      works('setpriv', ['--no-new-privs', 'true']),
      // Not in most containers, where the process still has nothing that connects to others.
      works('unshare', ['--net', '--map-root-user', 'true']),
      works('prlimit', ['--version']),
    ])
    return { shell, nice, setpriv, unshare, prlimit }
  })()
  return commands
}

/**
 * The command line that runs a program at low priority, without a network where the system allows
 * that, without a way to more rights, and with limits of the system. The program keeps the id of
 * the process.
 * @param memory bytes that it may allocate, where that is known before it runs
 * @param writes whether it may write files; one that tries is ended
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
    // Where memory is short, the system ends one of these rather than the service.
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
 * Bytes of memory that a process holds now, of which kind; undefined where the system does not
 * tell.
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
