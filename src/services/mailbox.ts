import { AppError } from '../errors.ts'

/** More news than this for one who does not fetch them, and they are behind for good. */
const CAPACITY = 1000

/** Where a subscription finds the news that came while it was busy. The same news twice is one. */
export interface Mailbox {
  post(ids: string[]): void
  close(): void
  readonly closed: boolean
  /** Resolves when there is something, when the box is closed, or after so many milliseconds. */
  wait(ms: number): Promise<void>
  /** Resolves when the box is closed, or after so many milliseconds, whatever comes. */
  rest(ms: number): Promise<void>
  /** All there is. @throws UNAVAILABLE when there was more than fits */
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
      // One that says nothing but that there is news.
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
          'More has happened than you have fetched. Read the lists, and subscribe again.',
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
