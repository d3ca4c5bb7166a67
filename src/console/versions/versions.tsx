import './versions.css'
import { lazy, Suspense, useEffect, useId, useRef, useState } from 'react'
import { usePages } from '../graphql/use-pages.ts'
import { formatBytes, formatExact, formatMoment } from '../i18n/format.ts'
import { formatMoments } from '../i18n/times.ts'
import { Button } from '../parts/button.tsx'
import { copy } from '../parts/copy.ts'
import { Confirm } from '../parts/dialog.tsx'
import { Copy, Download, Ellipsis, Eye, FileUp, History, Trash2 } from '../parts/icons.ts'
import { Menu, type MenuEntry } from '../parts/menu.tsx'
import { personName } from '../parts/person-name.ts'
import { ShowMore } from '../parts/show-more.tsx'
import { toast } from '../parts/toasts.tsx'
import { hasPreview } from '../viewer/preview.tsx'
import { download, remove, restore } from './actions.ts'
import { VERSIONS_OF, type Version, type VersionedFile, type VersionsData } from './documents.ts'
import { text } from './text.ts'

const Look = lazy(() => import('./look.tsx').then(({ Look }) => ({ default: Look })))

/** Number of versions shown at first. */
const FEW = 5

/** All versions, latest first, page by page. Mutation payloads contain the first page. */
const useAllVersions = (id: string) =>
  usePages({
    document: VERSIONS_OF,
    variables: { id },
    connectionOf: (data: VersionsData | undefined) =>
      data?.node?.__typename === 'File' ? data.node.versions : undefined,
    first: 100,
    next: 100,
  })

/** The versions of a file: view, restore, download, delete. */
export function Versions({ file }: { file: VersionedFile }) {
  const id = useId()
  const [isAll, setAll] = useState(false)
  const { drive, permissions, revision, path } = file
  const first = file.versions?.nodes ?? []
  const mayRestore = permissions.includes('WRITE')
  const mayDelete = permissions.includes('DELETE')
  const keeps = drive.versionsKept > 0
  const replace = () =>
    void import('../uploads/pick-and-add.ts').then(({ pickAndReplace }) => {
      const folder = path.replace(/^\//, '').split('/').slice(0, -1).join('/')
      return pickAndReplace({ drive: drive.id, folder }, { fileName: file.name, revision })
    })
  return (
    <section className="versions" aria-labelledby={id} tabIndex={-1}>
      <div className="versions-head">
        <h3 id={id}>{text('versions')}</h3>
        {keeps && mayRestore && mayDelete && (
          <Button look="ghost" onPress={replace}>
            <FileUp />
            {text('upload')}
          </Button>
        )}
      </div>
      {first.length === 0 ? (
        <p className="soft versions-hint">
          {keeps
            ? text('none', { count: drive.versionsKept, days: drive.versionDays })
            : text('off')}
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
          {isAll ? <AllLines file={file} /> : <Lines file={file} versions={first.slice(0, FEW)} />}
        </ol>
      )}
      {first.length > FEW && !isAll && (
        <Button look="ghost" onPress={() => setAll(true)}>
          {text('showAll')}
        </Button>
      )}
    </section>
  )
}

function AllLines({ file }: { file: VersionedFile }) {
  const { entries, ...listed } = useAllVersions(file.id)
  return (
    <>
      <Lines file={file} versions={listed.isLoading ? (file.versions?.nodes ?? []) : entries} />
      {listed.hasMore && (
        <li>
          <ShowMore {...listed} look="ghost" />
        </li>
      )}
    </>
  )
}

function Lines({ file, versions }: { file: VersionedFile; versions: readonly Version[] }) {
  const { permissions, revision } = file
  const moments = formatMoments(versions.map(({ createdAt }) => createdAt))
  return versions.map((version, at) => (
    <Line
      key={version.id}
      version={version}
      when={moments[at] ?? ''}
      name={file.name}
      onRestore={permissions.includes('WRITE') ? () => void restore(version, revision) : undefined}
      mayDelete={permissions.includes('DELETE')}
    />
  ))
}

interface LineProps {
  version: Version
  /** Creation time of the version, unique in the list. */
  when: string
  /** Name of the file. */
  name: string
  onRestore: (() => void) | undefined
  mayDelete: boolean
}

/**
 * Returns a function that focuses the next line, the previous one or the section after the focused
 * line was deleted.
 */
function focusBeside(line: HTMLElement | null): () => void {
  const beside = [line?.nextElementSibling, line?.previousElementSibling]
  const section = line?.closest('section')
  return () => {
    if (document.activeElement !== document.body) return
    const buttons = beside.flatMap(one =>
      one?.isConnected ? [...one.querySelectorAll('button')].slice(-1) : [],
    )
    const target = buttons[0] ?? section
    target?.focus()
  }
}

function Line({ version, when, name, onRestore, mayDelete }: LineProps) {
  const [open, setOpen] = useState<'look' | 'delete' | null>(null)
  const line = useRef<HTMLLIElement>(null)
  const whenGone = useRef(() => {})
  useEffect(() => () => whenGone.current(), [])
  const close = () => setOpen(null)
  const { size, md5, contentType, createdAt, modifiedAt, createdBy, expiresAt } = version
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
          {
            id: 'delete',
            icon: Trash2,
            label: text('delete'),
            danger: true,
            run: () => setOpen('delete'),
          },
        ]
      : []),
  ]
  return (
    <li className="version" ref={line}>
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
        {modifiedAt !== createdAt && (
          <p className="soft version-until">
            {text('modified', { when: formatExact(modifiedAt) })}
          </p>
        )}
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
      <Suspense>
        {open === 'look' && <Look version={version} name={name} onClose={close} />}
      </Suspense>
      <Confirm
        title={text('deleteTitle')}
        isOpen={open === 'delete'}
        label={text('deleteNow')}
        onConfirm={() => {
          whenGone.current = focusBeside(line.current)
          void remove(version)
        }}
        onClose={close}
      >
        <p>{text('deleteWhy', { when, name })}</p>
      </Confirm>
    </li>
  )
}
