import { sleep } from '../../upload-engine/signal.ts'
import { isFailure } from '../failure.ts'
import { SyncEventsDocument } from '../generated.ts'
import type { Place } from '../place.ts'

/** Delay before reconnecting. */
const RETRY_MS = 3000
/**
 * Polling interval if the service refuses a subscription, because each person may only have a few.
 */
const POLL_MS = 10_000

/** Calls `wake` after each change in a drive, and after each reconnect, until the signal aborts. */
export async function watchRemote(
  place: Place,
  wake: () => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted)
    try {
      const { at } = await place.at('')
      await place.client.subscribe(SyncEventsDocument, { drive: at.drive }, wake, signal)
      wake()
      await sleep(RETRY_MS, signal)
    } catch (error) {
      if (signal.aborted) return
      wake()
      const isLost = isFailure(error, 'UNREACHABLE', 'UNAVAILABLE')
      await sleep(isLost ? RETRY_MS : POLL_MS, signal).catch(() => {})
    }
}
