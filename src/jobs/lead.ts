import type { Coordination } from '../coordination/coordination.ts'

const CHANNEL = 'satchel:jobs'

interface Job {
  start(): void
  stop(): Promise<void>
}

/**
 * Jobs, sweeps and schedules, which run in one process of an instance.
 * @param instance tells the processes of the instance
 * @param wakes by what they wake
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
    /** Begins with them in this process. */
    begin(): void {
      if (leads) return
      leads = true
      for (const job of jobs) job.start()
    },

    /** Wakes what works on it, wherever that runs. */
    wake(what: What): void {
      if (leads) wakes[what]()
      else instance.publish(CHANNEL, what)
    },

    /** Ends them. @param failed is called with errors */
    async stop(failed: (error: unknown) => void): Promise<void> {
      await Promise.all(jobs.map(job => job.stop().catch(failed)))
    },
  }
}
