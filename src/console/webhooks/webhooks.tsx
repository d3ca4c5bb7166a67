import './webhooks.css'
import { lazy, Suspense, useState } from 'react'
import { useLookAgain } from '../graphql/look-again.ts'
import { mutate } from '../graphql/run.ts'
import { formatExact } from '../i18n/format.ts'
import { formatRelative } from '../i18n/times.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import {
  Ellipsis,
  History,
  KeyRound,
  Pause,
  Pencil,
  Play,
  Plus,
  Send,
  Trash2,
  Webhook as WebhookIcon,
} from '../parts/icons.ts'
import { Menu, type MenuEntry } from '../parts/menu.tsx'
import { Rows } from '../parts/rows.tsx'
import { Section } from '../parts/screen.tsx'
import { EmptyState } from '../parts/states.tsx'
import { toast, toastError } from '../parts/toasts.tsx'
import { DELETE_WEBHOOK, PING_WEBHOOK, UPDATE_WEBHOOK, type Webhook } from './documents.ts'
import { typeOf } from './kinds.ts'
import { text } from './text.ts'

const WebhookForm = lazy(() =>
  import('./form.tsx').then(({ WebhookForm }) => ({ default: WebhookForm })),
)
const Deliveries = lazy(() =>
  import('./deliveries.tsx').then(({ Deliveries }) => ({ default: Deliveries })),
)
const NewSecret = lazy(() =>
  import('./new-secret.tsx').then(({ NewSecret }) => ({ default: NewSecret })),
)
const Reason = lazy(() => import('./reason.tsx').then(({ Reason }) => ({ default: Reason })))

/** The most webhooks per person or workspace. */
const MAX_WEBHOOKS = 10

/** Polling interval, because no subscription reports failing deliveries or changes by others. */
const LOOK_MS = 5000

interface WebhooksProps {
  hint: string
  webhooks: readonly Webhook[]
  /** Id of the workspace; null for webhooks of the person. */
  workspace: string | null
  /** Refetches the list. */
  onChange: () => void
}

/** Webhooks: create, test, pause and delete. */
export function Webhooks({ hint, webhooks, workspace, onChange }: WebhooksProps) {
  const [isCreating, setCreating] = useState(false)
  useLookAgain(onChange, LOOK_MS)
  const isFull = webhooks.length >= MAX_WEBHOOKS
  return (
    <Section
      title={text('webhooks')}
      hint={hint}
      actions={
        <Button look="primary" isDisabled={isFull} onPress={() => setCreating(true)}>
          <Plus />
          {text('create')}
        </Button>
      }
    >
      {isFull && <p className="hint">{text('full', { count: MAX_WEBHOOKS })}</p>}
      {webhooks.length === 0 ? (
        <EmptyState icon={WebhookIcon} title={text('none')} hint={text('noneHint')} level="h3" />
      ) : (
        <Rows label={text('webhooks')}>
          {webhooks.map(webhook => (
            <Line key={webhook.id} webhook={webhook} workspace={workspace} onChange={onChange} />
          ))}
        </Rows>
      )}
      <Suspense>
        {isCreating && (
          <WebhookForm
            webhook={null}
            workspace={workspace}
            onDone={onChange}
            onClose={() => setCreating(false)}
          />
        )}
      </Suspense>
    </Section>
  )
}

const FEW_KINDS = 3

/** A summary of the subscribed events. */
const kindsOf = ({ kinds }: Webhook): string =>
  kinds === null
    ? text('all')
    : kinds.length <= FEW_KINDS
      ? kinds.map(typeOf).join(', ')
      : text('kinds', { count: kinds.length })

type LineProps = Pick<WebhooksProps, 'workspace' | 'onChange'> & { webhook: Webhook }

function Line({ webhook, workspace, onChange }: LineProps) {
  const [open, setOpen] = useState<'edit' | 'deliveries' | 'secret' | 'delete' | null>(null)
  const close = () => setOpen(null)
  const {
    id,
    url,
    source,
    state,
    firstFailedAt,
    nextAttemptAt,
    createdAt,
    oldSecretEndsAt,
    responsible,
  } = webhook
  const attempt = (work: () => Promise<unknown>) => void work().catch(toastError)
  const pause = (paused: boolean) =>
    attempt(() => mutate(UPDATE_WEBHOOK, { input: { webhook: id, paused } }))
  const ping = async () => {
    await mutate(PING_WEBHOOK, { input: { webhook: id } })
    toast({
      message: text('onItsWay'),
      action: { label: text('deliveries'), run: () => setOpen('deliveries') },
    })
  }
  const remove = async () => {
    await mutate(DELETE_WEBHOOK, { input: { webhook: id } })
    onChange()
  }
  const entries: MenuEntry[] = [
    { id: 'edit', icon: Pencil, label: text('editMenu'), run: () => setOpen('edit') },
    state === 'ACTIVE'
      ? { id: 'pause', icon: Pause, label: text('pause'), run: () => pause(true) }
      : { id: 'resume', icon: Play, label: text('resume'), run: () => pause(false) },
    { id: 'ping', icon: Send, label: text('ping'), run: () => attempt(ping) },
    {
      id: 'deliveries',
      icon: History,
      label: text('deliveries'),
      run: () => setOpen('deliveries'),
    },
    { id: 'secret', icon: KeyRound, label: text('rotateMenu'), run: () => setOpen('secret') },
    'separator',
    {
      id: 'delete',
      icon: Trash2,
      label: text('delete'),
      danger: true,
      run: () => setOpen('delete'),
    },
  ]
  const isFailing = state === 'ACTIVE' && firstFailedAt !== null
  return (
    <li className="webhook">
      <span className="row-icon" aria-hidden>
        <WebhookIcon />
      </span>
      <div className="grow">
        <p className="title">
          <span className="webhook-url" dir="ltr">
            {url}
          </span>
          {state === 'PAUSED' && <span className="chip soft">{text('paused')}</span>}
          {state === 'DISABLED' && <span className="chip wrong">{text('disabled')}</span>}
          {isFailing && <span className="chip wrong">{text('failing')}</span>}
        </p>
        <p className="facts-line soft">
          {workspace === null && <span>{text(source === 'PERSON' ? 'person' : 'own')}</span>}
          <span>{kindsOf(webhook)}</span>
          <span>{text('created', { when: formatExact(createdAt) })}</span>
          {oldSecretEndsAt !== null && Date.parse(oldSecretEndsAt) > Date.now() && (
            <span>{text('oldUntil', { when: formatExact(oldSecretEndsAt) })}</span>
          )}
          {workspace !== null && responsible && (
            <span dir="auto">{responsible.name || responsible.email}</span>
          )}
        </p>
        {(state === 'DISABLED' || isFailing) && (
          <div className="webhook-reason">
            <Suspense>
              <Reason id={id} isDisabled={state === 'DISABLED'} />
            </Suspense>
            {isFailing ? (
              <p>
                {text('failingSince', { when: formatRelative(firstFailedAt) })}{' '}
                {nextAttemptAt && text('nextAttempt', { when: formatExact(nextAttemptAt) })}
              </p>
            ) : (
              <Button onPress={() => pause(false)}>{text('enable')}</Button>
            )}
          </div>
        )}
      </div>
      <Menu label={text('actionsOf', { url })} button={{ look: 'icon' }} entries={entries}>
        <Ellipsis />
      </Menu>
      <Suspense>
        {open === 'edit' && (
          <WebhookForm webhook={webhook} workspace={workspace} onDone={onChange} onClose={close} />
        )}
        {open === 'secret' && <NewSecret id={id} url={url} onClose={close} />}
        {open === 'deliveries' && <Deliveries id={id} url={url} onClose={close} />}
      </Suspense>
      <Confirm
        title={text('deleteTitle')}
        isOpen={open === 'delete'}
        label={text('deleteNow')}
        onConfirm={() => attempt(remove)}
        onClose={close}
      >
        <p>{text('deleteWhy', { url })}</p>
      </Confirm>
    </li>
  )
}
