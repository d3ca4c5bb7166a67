import { useDeliveries } from './deliveries.tsx'
import { outcomeOf } from './failure.ts'
import { text } from './text.ts'

/** Why a webhook does not get its events: what became of the last attempt. */
export function Reason({ id }: { id: string }) {
  const { deliveries } = useDeliveries(id)
  const last = deliveries?.find(({ failure }) => failure !== null)
  return <p>{last ? text('because', { why: outcomeOf(last) }) : text('disabledHint')}</p>
}
