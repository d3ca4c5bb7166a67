import type { Coordination } from '../../coordination/coordination.ts'
import { HOUR_MS } from '../../values/duration.ts'
import type { RefusalReason } from './profile.ts'

/**
 * Refusals of one network, and of all together, that are noted one by one within an hour, for each
 * reason.
 */
const OF_NETWORK = 10
const OF_ALL = 30
const SECONDS = HOUR_MS / 1000

/**
 * Each of the first, and then each time that their number has doubled: however many there are, few
 * are noted, and their number is.
 */
const isNoted = (count: number, first: number): boolean =>
  count <= first || Number.isInteger(Math.log2(count / first))

/**
 * Decides which refused sign-ins are noted that concern no account. Anyone can cause as many as
 * they like, from as many addresses as they have, so each reason has its own count: many of one do
 * not hide those of another. The counts are those of all processes.
 */
export function createRefusalBound({ add }: Pick<Coordination, 'add'>) {
  const count = (key: string) => add(`satchel:refused-sign-in:${key}`, 1, SECONDS)
  return {
    /**
     * @returns how many there were within the hour for this reason, with this one; 0 where it is
     * not to be noted
     */
    async countToNote(reason: RefusalReason, network: string): Promise<number> {
      const all = await count(reason)
      // Beyond that, networks are not counted: an attacker with many would fill the memory.
      if (all > OF_ALL) return isNoted(all, OF_ALL) ? all : 0
      return isNoted(await count(`${reason}:${network}`), OF_NETWORK) ? all : 0
    },
  }
}
