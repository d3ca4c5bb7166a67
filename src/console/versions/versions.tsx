import './versions.css'
import { Copy, Download, Ellipsis, Eye, FileUp, History, Trash2 } from 'lucide-react'
import { lazy, Suspense, useId, useState } from 'react'
import { formatBytes, formatMoment, formatMoments, formatNumber } from '../i18n/format.ts'
import { Button } from '../parts/button.tsx'
import { copy } from '../parts/copy.ts'
import { Confirm } from '../parts/dialog.tsx'
import { Menu, type MenuEntry } from '../parts/menu.tsx'
import { personName } from '../parts/person-name.ts'
import { toast } from '../parts/toasts.tsx'
import { hasPreview } from '../viewer/preview.tsx'
import { download, remove, restore } from './actions.ts'
import type { Version, VersionedFile } from './documents.ts'
import { text } from './text.ts'

const Look = lazy(() => import('./look.tsx').then(({ Look }) => ({ default: Look })))

/** So many are shown at once; the others when they are asked for. */
const FEW = 5

/** What a file is and was, with the ways from one to the other. */
export function Versions({ file }: { file: VersionedFile }) {
  const id = useId()
  const [shown, setShown] = useState(FEW)
  const { drive, permissions, revision, path } = file
  const all = file.versions?.nodes ?? []
  const moments = formatMoments(all.map(({ createdAt }) => createdAt))
  const mayRestore = permissions.includes('WRITE')
  const mayDelete = permissions.includes('DELETE')
  const keeps = drive.versionsKept > 0
  const replace = () =>
    void import('../uploads/pick-and-add.ts').then(({ pickAndReplace }) => {
      const folder = path.replace(/^\//, '').split('/').slice(0, -1).join('/')
      return pickAndReplace({ drive: drive.id, folder }, { fileName: file.name, revision })
    })
  return (
    <section className="versions" aria-labelledby={id}>
      <div className="versions-head">
        <h3 id={id}>{text('versions')}</h3>
        {keeps && mayRestore && mayDelete && (
          <Button look="ghost" onPress={replace}>
            <FileUp />
            {text('upload')}
          </Button>
        )}
      </div>
      {all.length === 0 ? (
        <p className="soft versions-hint">
          {keeps ? text('none', { count: drive.versionsKept, days: drive.versionDays }) : text('off')}
        </p>
      ) : (
        <ol className="version-list" aria-label={text('versions')}>
          <li className="version current">
            <div className="grow">
              <p className="version-when">{text('current')}</p>
              <p className="facts-line soft">
                <span>{formatBytes(file.size)}</span>
                <code title={file.md5}>{file.md5.slice(0, 8)}</code>
              </p>
            </div>
          </li>
          {all.slice(0, shown).map((version, at) => (
            <Line
              key={version.id}
              version={version}
              when={moments[at] ?? ''}
              name={file.name}
              onRestore={mayRestore ? () => void restore(version, revision) : undefined}
              mayDelete={mayDelete}
            />
          ))}
        </ol>
      )}
      {all.length > shown && (
        <Button look="ghost" onPress={() => setShown(all.length)}>
          {text('showAll', { count: formatNumber(all.length) })}
        </Button>
      )}
      {file.versions?.pageInfo.hasNextPage && all.length <= shown && (
        <p className="soft versions-hint">{text('moreKept', { count: formatNumber(all.length) })}</p>
      )}
    </section>
  )
}

interface LineProps {
  version: Version
  /** When it was made, unlike any other. */
  when: string
  /** Of the file. */
  name: string
  onRestore: (() => void) | undefined
  mayDelete: boolean
}

function Line({ version, when, name, onRestore, mayDelete }: LineProps) {
  const [open, setOpen] = useState<'look' | 'delete' | null>(null)
  const close = () => setOpen(null)
  const { size, md5, contentType, createdAt, createdBy, expiresAt } = version
  const copyDigest = async () => {
    if (await copy(md5)) toast({ message: text('copiedDigest') })
  }
  const entries: MenuEntry[] = [
    ...(hasPreview({ name, contentType, size })
      ? [{ id: 'look', icon: Eye, label: text('preview'), run: () => setOpen('look') }]
      : []),
    { id: 'download', icon: Download, label: text('download'), run: () => void download(version) },
    { id: 'digest', icon: Copy, label: text('copyDigest'), run: () => void copyDigest() },
    ...(mayDelete
      ? [
          'separator' as const,
          { id: 'delete', icon: Trash2, label: text('delete'), danger: true, run: () => setOpen('delete') },
        ]
      : []),
  ]
  return (
    <li className="version">
      <div className="grow">
        <p className="version-when">
          <time dateTime={createdAt}>{when}</time>
          {createdBy && (
            <span className="soft version-who" dir="auto">
              {personName(createdBy)}
            </span>
          )}
        </p>
        <p className="facts-line soft">
          <span>{formatBytes(size)}</span>
          <code title={md5}>{md5.slice(0, 8)}</code>
        </p>
        <p className="soft version-until">{text('until', { when: formatMoment(expiresAt) })}</p>
      </div>
      {onRestore && (
        <Button look="icon" aria-label={text('restoreOf', { when })} onPress={onRestore}>
          <History />
        </Button>
      )}
      <Menu label={text('actionsOf', { when })} button={{ look: 'icon' }} entries={entries}>
        <Ellipsis />
      </Menu>
      <Suspense>{open === 'look' && <Look version={version} name={name} onClose={close} />}</Suspense>
      <Confirm
        title={text('deleteTitle')}
        isOpen={open === 'delete'}
        label={text('deleteNow')}
        onConfirm={() => void remove(version)}
        onClose={close}
      >
        <p>{text('deleteWhy', { when, name })}</p>
      </Confirm>
    </li>
  )
}
