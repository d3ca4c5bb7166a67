/*
 * Start-time fair queueing over keys (who asks, from where, about whose link): work is begun in the order of its turn, and each
 * piece of work moves the next turn of all its keys on. Who sends much waits behind their own work; who comes now and then is next,
 * however much others have sent.
 */

interface Waiting {
  keys: readonly string[]
  /** When it is due: its turn, and by how many it stands back. */
  turn: number
  place: number
  since: number
  begin(): void
  refuse(): void
}

interface FairQueueOptions {
  /** How much work is under way at once. */
  atOnce: number
  /** How much may wait: in all, and with one key. */
  longest: number
  longestPerKey?: number
  /** Milliseconds after which waiting has no use any more. */
  patience?: number
  /** What is thrown for work that is refused. */
  full: () => Error
}

export interface FairQueue {
  /**
   * Does work when it is its turn.
   * @param keys with whom its turns are shared
   * @param rank turns that it stands back behind others
   * @throws what `full` makes, when too much waits: of those who wait, the one whose turn is last
   */
  run<T>(keys: readonly string[], work: () => Promise<T>, rank?: number): Promise<T>
  /** How much waits or is under way. */
  readonly size: number
}

export function createFairQueue(options: FairQueueOptions): FairQueue {
  const { atOnce, longest, longestPerKey = longest, patience = Number.POSITIVE_INFINITY, full } = options
  /** In the order of their places. */
  const waiting: Waiting[] = []
  /** Keys of work that waits or is under way. */
  const known = new Map<string, { waiting: number; inside: number; next: number }>()
  let clock = 0
  let running = 0

  function enter(keys: readonly string[]): number {
    const turn = Math.max(clock, ...keys.map(key => known.get(key)?.next ?? 0))
    for (const key of keys) {
      const { waiting: waits, inside } = known.get(key) ?? { waiting: 0, inside: 0 }
      known.set(key, { waiting: waits + 1, inside: inside + 1, next: turn + 1 })
    }
    return turn
  }

  function change(keys: readonly string[], by: { waiting?: -1; inside?: -1 }): void {
    for (const key of keys) {
      const state = known.get(key)
      if (!state) continue
      state.waiting += by.waiting ?? 0
      state.inside += by.inside ?? 0
      if (state.inside === 0) known.delete(key)
    }
  }

  /** Refuses the last of those who wait, or of those who wait with a key of which too many do. */
  function shorten(newest: Waiting): void {
    const crowded = newest.keys.find(key => (known.get(key)?.waiting ?? 0) > longestPerKey)
    if (crowded === undefined && waiting.length <= longest) return
    const last = waiting.findLast(w => crowded === undefined || w.keys.includes(crowded))
    if (last) drop(last)
  }

  function drop(job: Waiting): void {
    waiting.splice(waiting.indexOf(job), 1)
    change(job.keys, { waiting: -1, inside: -1 })
    job.refuse()
  }

  function next(): void {
    while (running < atOnce) {
      const job = waiting[0]
      if (!job) return
      if (Date.now() - job.since > patience) {
        drop(job)
        continue
      }
      waiting.shift()
      change(job.keys, { waiting: -1 })
      clock = Math.max(clock, job.turn)
      running++
      job.begin()
    }
  }

  return {
    run<T>(given: readonly string[], work: () => Promise<T>, rank = 0): Promise<T> {
      const keys = [...new Set(given)]
      return new Promise<T>((resolve, reject) => {
        const turn = enter(keys)
        const job: Waiting = {
          keys,
          turn,
          place: turn + rank,
          since: Date.now(),
          refuse: () => reject(full()),
          begin: () =>
            work()
              .then(resolve, reject)
              .finally(() => {
                running--
                change(keys, { inside: -1 })
                next()
              }),
        }
        const after = waiting.findLastIndex(w => w.place <= job.place)
        waiting.splice(after + 1, 0, job)
        next()
        if (waiting.includes(job)) shorten(job)
      })
    },

    get size() {
      return waiting.length + running
    },
  }
}
