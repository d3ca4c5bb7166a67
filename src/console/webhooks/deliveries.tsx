import { useKeptQuery } from '../graphql/kept.ts'
import { useLookAgain } from '../graphql/look-again.ts'
import { mutate } from '../graphql/run.ts'
import { formatExact, formatNumber } from '../i18n/format.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { CircleAlert, CircleCheck, RotateCcw } from '../parts/icons.ts'
import { ErrorState, Skeleton } from '../parts/states.tsx'
import { toast, toastError } from '../parts/toasts.tsx'
import { DELIVERIES, type Delivery, PING_WEBHOOK, REDELIVER } from './documents.ts'
import { outcomeOf } from './failure.ts'
import { text } from './text.ts'

/** Polling interval, because no subscription reports attempts. */
const LOOK_MS = 3000

/** The latest attempts of a webhook, polled. */
export function useDeliveries(id: string, pause: number) {
  const [{ data, error }, reload] = useKeptQuery({
    query: DELIVERIES,
    variables: { id },
    requestPolicy: 'cache-and-network',
  })
  const again = () => reload({ requestPolicy: 'network-only' })
  useLookAgain(again, pause)
  const node = data?.node?.__typename === 'Webhook' ? data.node : undefined
  return { deliveries: node?.deliveries, error, again }
}

interface DeliveriesProps {
  id: string
  url: string
  onClose: () => void
}

/** The latest attempts, newest first. Each event can be sent again. */
export function Deliveries({ id, url, onClose }: DeliveriesProps) {
  const { deliveries, error, again } = useDeliveries(id, LOOK_MS)
  const send = async (work: Promise<unknown>) => {
    try {
      await work
      toast({ message: text('onItsWay') })
      again()
    } catch (error) {
      toastError(error)
    }
  }
  return (
    <Dialog
      title={text('deliveries')}
      isOpen
      onClose={onClose}
      size="wide"
      footer={
        <Button onPress={() => void send(mutate(PING_WEBHOOK, { input: { webhook: id } }))}>
          {text('ping')}
        </Button>
      }
    >
      <p className="soft webhook-url" dir="ltr">
        {url}
      </p>
      {error ? (
        <ErrorState error={error} retry={again} />
      ) : !deliveries ? (
        <Skeleton rows={5} />
      ) : deliveries.length === 0 ? (
        <p className="soft">{text('noDeliveries')}</p>
      ) : (
        <ul className="rows" aria-label={text('deliveries')}>
          {deliveries.map(delivery => (
            <Attempt
              key={`${delivery.eventId} ${delivery.attemptedAt} ${delivery.attempt}`}
              delivery={delivery}
              onAgain={() =>
                void send(mutate(REDELIVER, { input: { webhook: id, event: delivery.eventId } }))
              }
            />
          ))}
        </ul>
      )}
    </Dialog>
  )
}

function Attempt({ delivery, onAgain }: { delivery: Delivery; onAgain: () => void }) {
  const { kind, eventId, failure, attempt, attemptedAt, milliseconds } = delivery
  const Icon = failure === null ? CircleCheck : CircleAlert
  const when = formatExact(attemptedAt)
  return (
    <li className={`webhook-attempt ${failure === null ? 'right' : 'wrong'}`}>
      <Icon aria-hidden />
      <div className="grow">
        <p className="title">
          <code>{kind}</code>
          {attempt > 1 && (
            <span className="chip soft">{text('attempt', { count: formatNumber(attempt) })}</span>
          )}
        </p>
        <p className="facts-line soft">
          <span className="webhook-outcome">{outcomeOf(delivery)}</span>
          <span>{when}</span>
          <span>{text('took', { count: formatNumber(milliseconds) })}</span>
        </p>
      </div>
      {eventId.startsWith('event:') && (
        <Button look="icon" aria-label={text('redeliverOf', { kind, when })} onPress={onAgain}>
          <RotateCcw />
        </Button>
      )}
    </li>
  )
}
