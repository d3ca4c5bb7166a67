import { type Failure, isFailure } from '../failure.ts'
import { attempt, type Change, type Job } from '../sync/work.ts'
import type { OwnFolder } from './own-folder.ts'
import type { Action, Sent, Side } from './sides.ts'

/** The dependencies for running a plan for two sides. */
export interface BothJob extends Job {
  own: OwnFolder
  /** Cursor of the service's events at the time of the scan. */
  cursor: string
  /** Failed moves, named by `keyOf`. */
  failedMoves: Set<string>
  /** Content that was transferred from one side to the other, by path. */
  sent: Map<string, Sent>
  /** Moved or restored entries, by path. */
  touched: Map<string, Side>
  refusals: Refusals
}

/** Actions that the role or key does not allow on the service, by kind. Each kind is tried once. */
export type Refusals = Map<Action['action'], { failure: Failure; paths: Set<string> }>

/** Runs an action and collects its failure. A refusal by the service stops nothing else. */
export async function attemptAction(
  job: BothJob,
  { side, action, path }: Action,
  act: () => Promise<Omit<Change, 'path'> | null>,
): Promise<void> {
  const refusal = side === 'remote' ? job.refusals.get(action) : undefined
  if (refusal) return void refusal.paths.add(path)
  await attempt(job, path, async () => {
    try {
      const done = await act()
      return done && { ...done, side }
    } catch (error) {
      if (side !== 'remote' || !isFailure(error, 'FORBIDDEN', 'INSUFFICIENT_SCOPE')) throw error
      // Other actions were refused at the same time.
      const { paths } = job.refusals.get(action) ?? { paths: new Set() }
      job.refusals.set(action, { failure: error as Failure, paths: paths.add(path) })
      return null
    }
  })
}
