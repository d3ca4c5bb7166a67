import { useDeliveries } from './deliveries.tsx'
import { outcomeOf } from './failure.ts'
import { text } from './text.ts'

/** Attempts that fail are minutes apart, and a list may show many webhooks. */
const LOOK_MS = 20_000

/** Why a webhook does not get its events: what became of the last attempt. */
export function Reason({ id, isDisabled }: { id: string; isDisabled: boolean }) {
  const { deliveries } = useDeliveries(id, LOOK_MS)
  const last = deliveries?.find(({ failure }) => failure !== null)
  if (last) return <p>{text('because', { why: outcomeOf(last) })}</p>
  // Attempts are forgotten in time; while they are being read nothing is said that may be wrong.
  return deliveries && isDisabled ? <p>{text('disabledHint')}</p> : null
}
