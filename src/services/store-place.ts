import type { Db } from '../../db/index.ts'
import { lastMove, storesOf, unmovedAfter } from '../../db/queries/store-move.ts'
import type { Places } from '../storage/moving.ts'

/** Blobs that a store is looked through for. */
const SAMPLE = 100
/** How old what is known of a move may be: a change of it waits for no request. */
const FRESH_MS = 1000

/** What the database says of the stores of the blobs. */
export function storePlaces(db: Db): Places {
  let known: ReturnType<Places['last']> | undefined
  let seenAt = 0

  async function look() {
    const move = await lastMove(db)
    return move
      ? { number: move.number, isFinished: move.finishedAt !== null }
      : { number: 0, isFinished: true }
  }

  return {
    last() {
      const now = performance.now()
      if (known && now - seenAt < FRESH_MS) return known
      seenAt = now
      const looking = look()
      known = looking
      looking.catch(() => {
        if (known === looking) known = undefined
      })
      return looking
    },

    of: keys => storesOf(db, keys),
    someBefore: async number => (await unmovedAfter(db, number, '', SAMPLE)).map(({ id }) => id),
  }
}
