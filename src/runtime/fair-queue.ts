/*
 * Start-time fair queueing over keys (the caller, the network, the owner of a link): tasks start in the order of their turn, and each
 * task moves the next turn of all its keys on. A busy client waits behind its own tasks; an occasional client is next,
 * however many tasks others have queued.
 */

interface Waiting {
  keys: readonly string[]
  /** The turn of the task. Tasks are ordered by `place`, the turn plus the rank. */
  turn: number
  place: number
  since: number
  begin(): void
  refuse(): void
}

interface FairQueueOptions {
  /** The maximum number of concurrent tasks. */
  atOnce: number
  /** The maximum number of waiting tasks, in total and per key. */
  longest: number
  longestPerKey?: number
  /** Milliseconds after which a waiting task is refused. */
  patience?: number
  /** Creates the error for a refused task. */
  full: () => Error
}

export interface FairQueue {
  /**
   * Runs a task in its turn.
   * @param keys the keys that share their turns
   * @param rank turns by which to postpone the task
   * @throws the error of `full`, for the last task in the queue when too many wait
   */
  run<T>(keys: readonly string[], work: () => Promise<T>, rank?: number): Promise<T>
  /** The number of waiting and running tasks. */
  readonly size: number
}

export function createFairQueue(options: FairQueueOptions): FairQueue {
  const {
    atOnce,
    longest,
    longestPerKey = longest,
    patience = Number.POSITIVE_INFINITY,
    full,
  } = options
  /** Sorted by `place`. */
  const waiting: Waiting[] = []
  /** The keys of waiting or running tasks. */
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

  /** Refuses the last waiting task, or the last task of a key with too many. */
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
      if (performance.now() - job.since > patience) {
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
          since: performance.now(),
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
