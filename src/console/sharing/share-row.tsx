import { lazy, type ReactNode, Suspense, useState } from 'react'
import { mutate } from '../graphql/run.ts'
import { Avatar } from '../parts/avatar.tsx'
import { Button } from '../parts/button.tsx'
import { copyLink } from '../parts/copy.ts'
import { Confirm } from '../parts/dialog.tsx'
import {
  Ban,
  Copy,
  Ellipsis,
  Eye,
  FolderOpen,
  History,
  Link2,
  List,
  Lock,
  type LucideIcon,
  Pencil,
  QrCode,
  UserRound,
} from '../parts/icons.ts'
import { Menu, type MenuEntry } from '../parts/menu.tsx'
import { toast, toastError } from '../parts/toasts.tsx'
import { accessName } from './access.tsx'
import { REVOKE, type Share } from './documents.ts'
import { downloadsOf, endOf, lastUseOf, madeWhen, nameOf, stateOf } from './facts.ts'
import { text } from './text.ts'

const Code = lazy(() => import('./code.tsx').then(({ Code }) => ({ default: Code })))
const Entries = lazy(() => import('./entries.tsx').then(({ Entries }) => ({ default: Entries })))
const EditShare = lazy(() => import('./edit.tsx').then(({ EditShare }) => ({ default: EditShare })))
const Uses = lazy(() => import('./uses.tsx').then(({ Uses }) => ({ default: Uses })))

interface ShareRowProps {
  share: Share
  /** The file of the share, in a list of shares of many files. */
  file?: { icon: ReactNode; name: ReactNode; onShow?: (() => void) | undefined }
  /** Whether it names what is shared. A share of several always does. */
  hasName?: boolean
  /** Shows what the recipient of a share can see. */
  onAccess?: (email: string) => void
}

/** The recipient of a share. */
export const whoOf = (share: Share): string =>
  share.__typename === 'DirectShare' ? share.recipient : text('everyone')

/** A share: recipient, use and actions. */
export function ShareRow({ share, file, hasName, onAccess }: ShareRowProps) {
  const [open, setOpen] = useState<'code' | 'edit' | 'entries' | 'uses' | 'revoke' | null>(null)
  const close = () => setOpen(null)
  const isLive = stateOf(share) === 'live'
  const isSeveral = share.entryCount > 1
  const isDirect = share.__typename === 'DirectShare'
  const who = whoOf(share)
  const lastUse = lastUseOf(share)
  const entry = (
    id: string,
    icon: LucideIcon,
    label: string,
    run: (() => void) | undefined,
    danger = false,
  ): MenuEntry[] => (run ? [{ id, icon, label, run, danger }] : [])
  const entries: MenuEntry[] = [
    ...entry('edit', Pencil, text(isLive ? 'edit' : 'renew'), () => setOpen('edit')),
    ...entry('code', QrCode, text('code'), isLive ? () => setOpen('code') : undefined),
    ...entry('uses', History, text('showUses'), () => setOpen('uses')),
    ...entry(
      'entries',
      List,
      text('showEntries', { count: share.entryCount }),
      isSeveral ? () => setOpen('entries') : undefined,
    ),
    ...entry('file', FolderOpen, text('showFile'), isSeveral ? undefined : file?.onShow),
    ...entry(
      'access',
      Eye,
      text('showAccess'),
      onAccess && isDirect ? () => onAccess(share.recipient) : undefined,
    ),
    'separator',
    ...entry(
      'revoke',
      Ban,
      isLive ? text('revoke') : text('remove'),
      () => setOpen('revoke'),
      true,
    ),
  ]
  const revoke = async () => {
    await mutate(REVOKE, { input: { share: { id: share.id } } })
    toast({ message: text(isLive ? 'revoked' : 'removed') })
  }
  return (
    <li className={`share-row${isLive ? '' : ' ended'}`}>
      {file?.icon ??
        (isDirect ? (
          <Avatar name="" email={share.recipient} />
        ) : (
          <span className="share-sign" aria-hidden>
            <Link2 />
          </span>
        ))}
      <div className="grow">
        {file && <div className="share-name">{file.name}</div>}
        <div className={file ? 'share-who soft' : 'share-name'}>
          {file && (isDirect ? <UserRound aria-hidden /> : <Link2 aria-hidden />)}
          <span dir="auto">{who}</span>
          {share.passwordProtected && (
            <span className="share-lock" title={text('protected')}>
              <Lock aria-hidden />
              <span className="sr">{text('protected')}</span>
            </span>
          )}
        </div>
        <div className="facts-line soft">
          {share.label !== '' && (
            <span className="share-label" dir="auto">
              {share.label}
            </span>
          )}
          {!file && (isSeveral || hasName) && <span dir="auto">{nameOf(share)}</span>}
          <span>{accessName(share)}</span>
          <span className={isLive ? '' : 'share-ended'}>{endOf(share)}</span>
          {share.allowDownload && <span>{downloadsOf(share)}</span>}
          {lastUse !== null && <span>{lastUse}</span>}
          {file && <span>{madeWhen(share)}</span>}
        </div>
      </div>
      {isLive && (
        <Button
          look="icon"
          aria-label={text('copyOf', { who })}
          onPress={() => void copyLink(share.url)}
        >
          <Copy />
        </Button>
      )}
      <Menu label={text('actionsOf', { who })} button={{ look: 'icon' }} entries={entries}>
        <Ellipsis />
      </Menu>
      <Suspense>
        {open === 'code' && <Code url={share.url} onClose={close} />}
        {open === 'entries' && <Entries share={share} onClose={close} />}
        {open === 'edit' && <EditShare share={share} onClose={close} />}
        {open === 'uses' && <Uses id={share.id} onClose={close} />}
      </Suspense>
      <Confirm
        title={text(isLive ? 'revokeTitle' : 'removeTitle')}
        isOpen={open === 'revoke'}
        label={text(isLive ? 'revoke' : 'remove')}
        onConfirm={() => void revoke().catch(toastError)}
        onClose={close}
      >
        <p>
          {isLive
            ? text(isDirect ? 'revokeDirectWhy' : 'revokeLinkWhy', { who, name: nameOf(share) })
            : text('removeWhy', { name: nameOf(share) })}
        </p>
      </Confirm>
    </li>
  )
}
