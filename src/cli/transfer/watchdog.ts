import { Failure } from '../failure.ts'
import { leashTo } from '../signal.ts'

/** How long nothing may move while bytes go, and how long the service may take to answer when all have gone. */
const STALL_MS = 60_000
const ANSWER_MS = 600_000

/** Ends a transfer in which nothing moves. */
export interface Watchdog {
  signal: AbortSignal
  /** Something has moved. */
  touch(): void
  /** All bytes have gone. */
  waitForAnswer(): void
  stop(): void
}

export function watch(signal: AbortSignal, host: string): Watchdog {
  const own = leashTo(signal)
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const give = (ms: number) => {
    clearTimeout(timer)
    // A body that nobody wants any more may still come to its end.
    if (isOver) return
    const end = () =>
      own.end(new Failure('UNREACHABLE', `${host}: nothing has moved for ${ms / 1000} s.`, { sent: true }))
    timer = setTimeout(end, ms)
  }
  give(STALL_MS)
  return {
    signal: own.signal,
    touch() {
      if (!isOver) timer?.refresh()
    },
    waitForAnswer: () => give(ANSWER_MS),
    stop() {
      isOver = true
      clearTimeout(timer)
      own.release()
    },
  }
}
