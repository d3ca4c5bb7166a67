import type { Attempt, PartJob } from './job.ts'
import { watch } from './watchdog.ts'

/** Runs one attempt to send `size` bytes under a watchdog. Reverts its progress if it fails. */
export async function attempt<Body, T>(
  { transport, progress, patience }: Pick<PartJob<Body>, 'transport' | 'progress' | 'patience'>,
  size: number,
  work: (attempt: Attempt) => Promise<T>,
): Promise<T> {
  const watchdog = watch(patience.signal, transport.host)
  let sent = 0
  let isOver = false
  if (size === 0) watchdog.waitForAnswer()
  const observer: Attempt = {
    signal: watchdog.signal,
    sent(count) {
      // An abandoned body may still be read for a while.
      if (isOver) return
      sent += count
      progress.move(count)
      if (sent < size) watchdog.touch()
      else watchdog.waitForAnswer()
    },
  }
  try {
    return await work(observer)
  } catch (error) {
    progress.move(-sent)
    throw error
  } finally {
    isOver = true
    watchdog.stop()
  }
}
