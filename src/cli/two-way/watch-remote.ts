import { sleep } from '../../upload-engine/signal.ts'
import { isFailure } from '../failure.ts'
import { SyncEventsDocument } from '../generated.ts'
import type { Place } from '../place.ts'

/** Before the connection is made again. */
const RETRY_MS = 3000
/** Between two looks where the service refuses a subscription: a person may have only so many. */
const POLL_MS = 10_000

/**
 * Calls `wake` when something happens in a drive, also when the connection was lost and is there
 * again, until the signal is aborted.
 */
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
