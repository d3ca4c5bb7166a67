import type { Failure } from '../failure.ts'
import type { Change } from '../sync/work.ts'
import type { Action } from './sides.ts'

/** What an action would do. */
export function plannedChange({
  side,
  action,
  path,
  from,
  keptAs,
  replaces,
  size,
}: Action): Change {
  return {
    action: replaces ? 'replace' : action,
    side,
    path,
    ...(from === undefined ? {} : { from }),
    ...(keptAs === undefined ? {} : { keptAs }),
    ...(size === undefined ? {} : { size }),
  }
}

/** Those that were not said before; they are said again after they were gone. */
export function unsaid(failures: Failure[], said: Set<string>): Failure[] {
  const now = new Set(failures.map(({ message }) => message))
  const fresh = failures.filter(({ message }) => !said.has(message))
  said.clear()
  for (const message of now) said.add(message)
  return fresh
}
