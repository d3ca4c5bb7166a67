import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const MiB = 1024 * 1024
/** Longer than the store keeps its buffers for the next upload. */
const QUIET_MS = 15_000
const AFTER_START_MS = 3000
/** Memory growth that justifies a full garbage collection: 400 ms for a heap of 127 MB. */
const WORTH = 48 * MiB

/**
 * Runs a full garbage collection. @param flavor `last-resort` also returns memory that V8 would
 * keep for its next growth
 */
function collectGarbage(flavor: 'regular' | 'last-resort' = 'regular'): void {
  setFlagsFromString('--expose-gc')
  const run: unknown = runInNewContext('gc')
  if (typeof run === 'function') run({ type: 'major', execution: 'sync', flavor })
}

/** Frees the garbage of loading and compiling, once the process has settled after its start. */
export function collectAfterStart(): void {
  setTimeout(() => collectGarbage('last-resort'), AFTER_START_MS).unref()
}

/**
 * Frees memory after a burst of bodies. V8 collects garbage only when it needs more memory, so an
 * idle process would keep the buffers of the burst indefinitely.
 */
export function createCollector() {
  let floor = process.memoryUsage.rss()
  let timer: NodeJS.Timeout | undefined

  const collect = () => {
    const grown = process.memoryUsage.rss() - floor
    if (grown < 0) floor += grown
    if (grown < WORTH) return
    collectGarbage('last-resort')
    floor = process.memoryUsage.rss()
  }

  return {
    /** Schedules a collection after bodies have ended, to run when the instance is quiet. */
    soon(): void {
      timer = timer?.refresh() ?? setTimeout(collect, QUIET_MS).unref()
    },
  }
}
