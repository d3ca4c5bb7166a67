import type { Coordination } from '../../coordination/coordination.ts'
import { HOUR_MS } from '../../values/duration.ts'
import type { RefusalReason } from './profile.ts'

/**
 * The number of refusals per network, and of all networks together, that are recorded one by one
 * per hour and reason.
 */
const OF_NETWORK = 10
const OF_ALL = 30
const SECONDS = HOUR_MS / 1000

/**
 * Records the first refusals one by one, and then one whenever their number has doubled. So the
 * number is known although few are recorded.
 */
const isNoted = (count: number, first: number): boolean =>
  count <= first || Number.isInteger(Math.log2(count / first))

/**
 * Decides which refused sign-ins without an account are recorded. Anyone can cause any number of
 * them from any number of addresses. So each reason is counted separately: many refusals for one
 * reason do not hide those for another. All processes share the counts.
 */
export function createRefusalBound({ add }: Pick<Coordination, 'add'>) {
  const count = (key: string) => add(`satchel:refused-sign-in:${key}`, 1, SECONDS)
  return {
    /**
     * @returns the number within the hour for this reason, including this one; 0 if it is not to be
     * recorded
     */
    async countToNote(reason: RefusalReason, network: string): Promise<number> {
      const all = await count(reason)
      // Beyond this number, networks are not counted, because an attacker with many could fill the
      // memory.
      if (all > OF_ALL) return isNoted(all, OF_ALL) ? all : 0
      return isNoted(await count(`${reason}:${network}`), OF_NETWORK) ? all : 0
    },
  }
}
