import type { Failure } from '../failure.ts'
import type { Change } from '../sync/work.ts'
import type { Action } from './sides.ts'

/** The change that an action would make. */
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

/**
 * Failures that were not printed yet. A failure that disappears is printed again when it returns.
 */
export function unsaid(failures: Failure[], said: Set<string>): Failure[] {
  const now = new Set(failures.map(({ message }) => message))
  const fresh = failures.filter(({ message }) => !said.has(message))
  said.clear()
  for (const message of now) said.add(message)
  return fresh
}
