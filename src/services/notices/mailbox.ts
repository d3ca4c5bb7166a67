import { AppError } from '../../runtime/errors.ts'

/**
 * The capacity of the buffer. A subscriber that exceeds it has lost events and must subscribe
 * again.
 */
const CAPACITY = 1000

/** Buffers the events that arrive while a subscription is busy, without duplicates. */
export interface Mailbox {
  post(ids: string[]): void
  close(): void
  readonly closed: boolean
  /**
   * Resolves when there is an event, when the mailbox is closed, or after this many milliseconds.
   */
  wait(ms: number): Promise<void>
  /** Resolves when the mailbox is closed, or after this many milliseconds, regardless of events. */
  rest(ms: number): Promise<void>
  /** Removes and returns all events. @throws UNAVAILABLE when the capacity was exceeded */
  take(): string[]
}

export function openMailbox(): Mailbox {
  let news = new Set<string>()
  let closed = false
  let wake = () => {}
  let wakeAtEnd = () => {}

  const after = (ms: number, keep: (done: () => void) => void) =>
    new Promise<void>(resolve => {
      const done = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(done, ms)
      keep(done)
    })

  return {
    post(ids) {
      // An event without content.
      for (const id of ids.length > 0 ? ids : ['']) if (news.size <= CAPACITY) news.add(id)
      wake()
    },
    close() {
      closed = true
      wake()
      wakeAtEnd()
    },
    get closed() {
      return closed
    },
    async wait(ms) {
      if (closed || news.size > 0) return
      await after(ms, done => {
        wake = done
      })
    },
    async rest(ms) {
      if (closed) return
      await after(ms, done => {
        wakeAtEnd = done
      })
    },
    take() {
      if (news.size > CAPACITY)
        throw new AppError(
          'UNAVAILABLE',
          'You have missed messages. Read the lists, and subscribe again.',
          {
            retry_after: 1,
          },
        )
      const ids = [...news]
      news = new Set()
      return ids
    },
  }
}
