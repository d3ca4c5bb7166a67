import type { Coordination } from '../coordination/coordination.ts'

const CHANNEL = 'satchel:jobs'

interface Job {
  start(): void
  stop(): Promise<void>
}

/**
 * Jobs, sweeps and schedules, which run in one process per instance.
 * @param instance coordinates the processes of the instance
 * @param wakes the wake functions by topic
 */
export function createLead<What extends string>(
  instance: Coordination,
  wakes: Record<What, () => void>,
  jobs: Job[],
) {
  let leads = false
  instance.subscribe(CHANNEL, what => {
    if (leads && Object.hasOwn(wakes, what)) wakes[what as What]()
  })
  return {
    /** Starts them in this process. */
    begin(): void {
      if (leads) return
      leads = true
      for (const job of jobs) job.start()
    },

    /** Wakes the worker, in whichever process it runs. */
    wake(what: What): void {
      if (leads) wakes[what]()
      else instance.publish(CHANNEL, what)
    },

    /**
     * Stops them.
     * @param failed receives errors
     */
    async stop(failed: (error: unknown) => void): Promise<void> {
      await Promise.all(jobs.map(job => job.stop().catch(failed)))
    },
  }
}
