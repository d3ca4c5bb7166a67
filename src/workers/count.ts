import { availableParallelism } from 'node:os'
import { type Config, isLoopback } from '../config/config.ts'

/**
 * The minimum database connections of a worker. With fewer, requests and jobs would wait for each
 * other.
 */
const LEAST_POOL = 4

/** Whether all servers of a database use the processors of this machine. */
function isOnThisMachine(database: Config['database']): boolean {
  if (database.dialect === 'sqlite') return true
  return [database.url, ...(database.others ?? [])].every(
    url => isLoopback(url) || new URL(url).searchParams.has('socketPath'),
  )
}

/** The number of workers, and why it is lower than configured. See docs/decisions/workers.md. */
export function workersOf(
  {
    workers,
    database,
    providers,
    accounts,
    databasePool,
  }: Pick<Config, 'workers' | 'database' | 'providers' | 'accounts' | 'databasePool'>,
  processors = availableParallelism(),
): { workers: number; because?: string } {
  // Beside a busy database, a worker for each processor is slower than one fewer.
  const free = isOnThisMachine(database) ? Math.max(1, processors - 1) : processors
  const wanted = workers === 'auto' ? free : workers
  if (wanted === 1) return { workers: 1 }
  const alone =
    database.dialect === 'sqlite'
      ? 'SQLite has one writer at a time, and processes that wait for each other are slower than one'
      : providers.length === 0 && !accounts
        ? 'the embedded sign-in is in one process; set SIGN_IN=accounts, or a provider (OAUTH_<NAME>_...)'
        : undefined
  if (alone) return workers === 'auto' ? { workers: 1 } : { workers: 1, because: alone }
  const most = Math.max(1, Math.floor(databasePool / LEAST_POOL))
  if (wanted <= most) return { workers: wanted }
  return {
    workers: most,
    because: `each needs ${LEAST_POOL} of the connections of DATABASE_POOL, which is ${databasePool}`,
  }
}
