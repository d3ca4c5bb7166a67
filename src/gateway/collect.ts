import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const MiB = 1024 * 1024
/** Longer than the store keeps its buffers for the next upload. */
const QUIET_MS = 15_000
/** Growth of the memory that is worth a garbage collection, which needs a tenth of a second. */
const WORTH = 48 * MiB

/**
 * Gives memory back after a burst of bodies. V8 collects garbage when it needs memory for more: a process that is idle then would keep
 * the buffers of the burst for as long as it stays idle.
 */
export function createCollector() {
  let floor = process.memoryUsage.rss()
  let timer: NodeJS.Timeout | undefined

  const collect = () => {
    const grown = process.memoryUsage.rss() - floor
    if (grown < 0) floor += grown
    if (grown < WORTH) return
    setFlagsFromString('--expose-gc')
    const run: unknown = runInNewContext('gc')
    if (typeof run === 'function') run()
    floor = process.memoryUsage.rss()
  }

  return {
    /** Schedules a collection after bodies have ended, for when the instance is quiet. */
    soon(): void {
      timer = timer?.refresh() ?? setTimeout(collect, QUIET_MS).unref()
    },
  }
}
