import { useDeliveries } from './deliveries.tsx'
import { outcomeOf } from './failure.ts'
import { text } from './text.ts'

/** Polling interval: failed attempts are minutes apart, and a list may show many webhooks. */
const LOOK_MS = 20_000

/** Why deliveries of a webhook fail: the result of the last attempt. */
export function Reason({ id, isDisabled }: { id: string; isDisabled: boolean }) {
  const { deliveries } = useDeliveries(id, LOOK_MS)
  const last = deliveries?.find(({ failure }) => failure !== null)
  if (last) return <p>{text('because', { why: outcomeOf(last) })}</p>
  // Old attempts are deleted. While they load, nothing is shown that may be wrong.
  return deliveries && isDisabled ? <p>{text('disabledHint')}</p> : null
}
