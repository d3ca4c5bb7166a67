import { availableParallelism } from 'node:os'
import type { Config } from '../config/config.ts'

/** How many workers the service has; why it is one, where more were asked for. See docs/decisions/workers.md. */
export function workersOf({ workers, database, providers }: Pick<Config, 'workers' | 'database' | 'providers'>): {
  workers: number
  because?: string
} {
  const wanted = workers === 'auto' ? availableParallelism() : workers
  const because =
    database.dialect === 'sqlite'
      ? 'SQLite has one writer at a time, and processes that wait for each other are slower than one'
      : providers.length === 0
        ? 'the embedded sign-in is in one process; set a provider (OAUTH_<NAME>_...)'
        : undefined
  if (wanted === 1 || !because) return { workers: wanted }
  return workers === 'auto' ? { workers: 1 } : { workers: 1, because }
}
