import './requests.css'
import { lazy, Suspense, useState } from 'react'
import { hrefOf, trim } from '../drive/place.ts'
import { mutate } from '../graphql/run.ts'
import { formatBytes, formatMoment, formatNumber } from '../i18n/format.ts'
import { Button } from '../parts/button.tsx'
import { copyLink } from '../parts/copy.ts'
import { Confirm } from '../parts/dialog.tsx'
import {
  Ban,
  Copy,
  Ellipsis,
  FileUp,
  FolderOpen,
  History,
  Lock,
  Pencil,
  QrCode,
} from '../parts/icons.ts'
import { Menu, type MenuEntry } from '../parts/menu.tsx'
import { toast, toastError } from '../parts/toasts.tsx'
import { CLOSE_REQUEST, type FileRequest } from './documents.ts'
import { Received } from './received.tsx'
import { countsOf, Senders } from './senders.tsx'
import { text } from './text.ts'

const Code = lazy(() => import('../sharing/code.tsx').then(({ Code }) => ({ default: Code })))
const RequestForm = lazy(() =>
  import('./form.tsx').then(({ RequestForm }) => ({ default: RequestForm })),
)
const Receipts = lazy(() =>
  import('./receipts.tsx').then(({ Receipts }) => ({ default: Receipts })),
)

interface RequestRowProps {
  request: FileRequest
  /** Opens a folder by its URL. */
  onShow: (href: string) => void
  onClosed: () => void
}

const chips = { EXPIRED: 'expired', FULL: 'full', SUSPENDED: 'suspended' } as const

/** A file request: folder, received files and actions. */
export function RequestRow({ request, onShow, onClosed }: RequestRowProps) {
  const [open, setOpen] = useState<'edit' | 'code' | 'receipts' | 'close' | null>(null)
  const close = () => setOpen(null)
  const { id, url, label, state, path, folder, expiresAt, passwordProtected } = request
  const workspace = folder?.drive.owner.__typename === 'Workspace' ? folder.drive.owner : null
  const href =
    path === null ? null : hrefOf({ workspace: workspace?.slug ?? null, path: trim(path) })
  const entries: MenuEntry[] = [
    { id: 'receipts', icon: History, label: text('receipts'), run: () => setOpen('receipts') },
    { id: 'edit', icon: Pencil, label: text('editMenu'), run: () => setOpen('edit') },
    { id: 'code', icon: QrCode, label: text('code'), run: () => setOpen('code') },
    ...(href === null
      ? []
      : [
          {
            id: 'folder',
            icon: FolderOpen,
            label: text('showFolder'),
            run: () => onShow(href),
          } as const,
        ]),
    'separator',
    { id: 'close', icon: Ban, label: text('close'), danger: true, run: () => setOpen('close') },
  ]
  const end = async () => {
    await mutate(CLOSE_REQUEST, { input: { fileRequest: id } })
    toast({ message: text('closed') })
    onClosed()
  }
  const { nodes: receipts = [] } = request.receipts ?? {}
  const counts = countsOf(request)
  return (
    <li className="share-row request">
      <span className="share-sign" aria-hidden>
        <FileUp />
      </span>
      <div className="grow">
        <div className="share-name">
          <button
            type="button"
            className="link"
            dir="auto"
            title={label}
            onClick={() => setOpen('receipts')}
          >
            {label}
          </button>
          {passwordProtected && (
            <span className="share-lock" title={text('protected')}>
              <Lock aria-hidden />
              <span className="sr">{text('protected')}</span>
            </span>
          )}
          {(state === 'EXPIRED' || state === 'FULL' || state === 'SUSPENDED') && (
            <span
              className="chip wrong"
              title={state === 'SUSPENDED' ? text('suspendedHint') : undefined}
            >
              {text(chips[state])}
            </span>
          )}
        </div>
        <div className="facts-line soft">
          {counts.expected > 0 && (
            <strong>
              {text('arrivedOf', { arrived: counts.arrived, count: counts.expected })}
            </strong>
          )}
          <span>{receivedOf(request)}</span>
          {state !== 'EXPIRED' && (
            <span>
              {expiresAt === null
                ? text('alwaysOpen')
                : text('openUntil', { when: formatMoment(expiresAt) })}
            </span>
          )}
          {path !== null && (
            <span dir="auto">
              {workspace ? `${workspace.name}: ` : ''}
              {trim(path) || text('root')}
            </span>
          )}
        </div>
        <div className="request-arrived">
          <Senders request={request} />
          {receipts.length > 0 && (
            <Received label={text('latestOf', { label })} receipts={receipts} />
          )}
          {request.fileCount > receipts.length && (
            <Button look="ghost" onPress={() => setOpen('receipts')}>
              {text('showAll', { count: request.fileCount })}
            </Button>
          )}
        </div>
      </div>
      <Button look="icon" aria-label={text('copyOf', { label })} onPress={() => void copyLink(url)}>
        <Copy />
      </Button>
      <Menu label={text('actionsOf', { label })} button={{ look: 'icon' }} entries={entries}>
        <Ellipsis />
      </Menu>
      <Suspense>
        {open === 'edit' && <RequestForm of={{ request }} onClose={close} />}
        {open === 'code' && <Code url={url} onClose={close} />}
        {open === 'receipts' && <Receipts id={id} label={label} onClose={close} />}
      </Suspense>
      <Confirm
        title={text('closeTitle')}
        isOpen={open === 'close'}
        label={text('closeNow')}
        onConfirm={() => void end().catch(toastError)}
        onClose={close}
      >
        <p>{text('closeWhy', { label })}</p>
      </Confirm>
    </li>
  )
}

/** The number and total size of received files, with the limit. */
function receivedOf({ fileCount, size, maxFiles }: FileRequest): string {
  if (fileCount === 0 && maxFiles === null) return text('receivedNone')
  const received = text('received', { count: fileCount, size: formatBytes(size) })
  return maxFiles === null
    ? received
    : `${received} (${text('of', { most: formatNumber(maxFiles) })})`
}
