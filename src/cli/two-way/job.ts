import { type Failure, isFailure } from '../failure.ts'
import { attempt, type Change, type Job } from '../sync/work.ts'
import type { OwnFolder } from './own-folder.ts'
import type { Action, Sent, Side } from './sides.ts'

/** What carries out a plan of two sides. */
export interface BothJob extends Job {
  own: OwnFolder
  /** Of the events of the service, when it was looked at. */
  cursor: string
  /** Moves that have failed, as `keyOf` names them. */
  failedMoves: Set<string>
  /** The contents that were sent from one side to the other, by path. */
  sent: Map<string, Sent>
  /** What was moved or restored, by path. */
  touched: Map<string, Side>
  refusals: Refusals
}

/** What the role or the key does not allow on the service, by kind of action. It is asked once. */
export type Refusals = Map<Action['action'], { failure: Failure; paths: Set<string> }>

/**
 * Carries out an action and collects its failure. What the service does not allow stops nothing
 * else.
 */
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
      // Others were asked at the same time.
      const { paths } = job.refusals.get(action) ?? { paths: new Set() }
      job.refusals.set(action, { failure: error as Failure, paths: paths.add(path) })
      return null
    }
  })
}
