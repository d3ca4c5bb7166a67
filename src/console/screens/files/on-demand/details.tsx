import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { ADD_FAVOURITES, REMOVE_FAVOURITES } from '../../../favourites/documents.ts'
import { useKeptQuery } from '../../../graphql/kept.ts'
import { useLive } from '../../../graphql/live.ts'
import { mutate } from '../../../graphql/run.ts'
import { formatBytes, formatExact, formatNumber } from '../../../i18n/format.ts'
import { Locks } from '../../../locks/locks.tsx'
import { Button } from '../../../parts/button.tsx'
import { EntryIcon } from '../../../parts/entry-icon.tsx'
import { Star, X } from '../../../parts/icons.ts'
import { MAX_NOTE } from '../../../parts/limits.ts'
import { personName } from '../../../parts/person-name.ts'
import { ErrorState, Skeleton } from '../../../parts/states.tsx'
import { toastError } from '../../../parts/toasts.tsx'
import { withFilters } from '../../../search/query.ts'
import { SharedWith } from '../../../sharing/shared-with.tsx'
import '../../../tags/chips.css'
import { Versions } from '../../../versions/versions.tsx'
import { EntryActivity } from '../../activity/entry-activity.tsx'
import { RecentActivity } from '../../activity/recent.tsx'
import type { Entry } from '../documents.ts'
import type { FolderHere } from '../use-folder.ts'
import { DETAILS, WRITE_NOTE } from './details-documents.ts'
import { PhotoFacts } from './photo.tsx'
import { FilePreview, isPictureEntry } from './preview.tsx'
import { text } from './text.ts'

interface DetailsProps {
  entries: readonly Entry[]
  folder: FolderHere['folder']
  /** The workspace; null for the own drive. Only workspaces have notes. */
  workspace: { slug: string; name: string } | null
  /** The section that is shown first. */
  begin?: 'versions' | 'activity' | undefined
  /** Opens the share sheet of the selection, if the person may share. */
  onShare: (() => void) | undefined
  onClose: () => void
}

type OneProps = Pick<DetailsProps, 'onShare' | 'workspace' | 'begin'> & { id: string }

/** The details panel: the selection, or else the folder. */
export function Details({ entries, folder, workspace, begin, onShare, onClose }: DetailsProps) {
  const [first] = entries
  return (
    <aside className="details" aria-label={text('details')}>
      <div className="details-head">
        <h2 dir="auto">
          {entries.length > 1
            ? text('selected', { count: entries.length })
            : (first?.name ?? (folder?.name || text('root')))}
        </h2>
        <Button look="icon" aria-label={text('closeDetails')} onPress={onClose}>
          <X />
        </Button>
      </div>
      <div className="details-body">
        {entries.length > 1 ? (
          <dl className="facts">
            <Fact label={text('size')}>
              {formatBytes(entries.reduce((sum, { size }) => sum + size, 0))}
            </Fact>
            <Fact label={text('contents')}>
              {text('files', { count: countOf(entries), shown: formatNumber(countOf(entries)) })}
            </Fact>
          </dl>
        ) : first ? (
          <One
            key={`${first.id} ${begin ?? ''}`}
            id={first.id}
            workspace={workspace}
            begin={begin}
            onShare={onShare}
          />
        ) : (
          folder && (
            <>
              <dl className="facts">
                <Fact label={text('contents')}>
                  {text('files', {
                    count: folder.fileCount,
                    shown: formatNumber(folder.fileCount),
                  })}
                </Fact>
                <Fact label={text('size')}>{formatBytes(folder.size)}</Fact>
              </dl>
              <RecentActivity slug={workspace?.slug ?? null} />
            </>
          )
        )}
      </div>
    </aside>
  )
}

const sectionClass = { versions: 'versions', activity: 'recent-activity' }

const countOf = (entries: readonly Entry[]) =>
  entries.reduce((sum, entry) => sum + (entry.__typename === 'Folder' ? entry.fileCount : 1), 0)

const Fact = ({ label, children }: { label: string; children: ReactNode }) => (
  <div>
    <dt>{label}</dt>
    <dd>{children}</dd>
  </div>
)

function One({ id, workspace, begin, onShare }: OneProps) {
  const [{ data, error }, reload] = useKeptQuery({
    query: DETAILS,
    variables: { id },
    requestPolicy: 'cache-and-network',
  })
  const node = data?.node
  const loadAgain = () => reload({ requestPolicy: 'network-only' })
  useLive(node && 'drive' in node ? node.drive?.id : undefined, loadAgain)
  const isLoaded = node?.__typename === 'File' || node?.__typename === 'Folder'
  useEffect(() => {
    if (!isLoaded || !begin) return
    const section = document.querySelector<HTMLElement>(`.details .${sectionClass[begin]}`)
    section?.scrollIntoView({ block: 'start' })
    section?.focus({ preventScroll: true })
  }, [isLoaded, begin])
  if (error) return <ErrorState error={error} retry={loadAgain} />
  if (node?.__typename !== 'File' && node?.__typename !== 'Folder') return <Skeleton rows={4} />
  const isFile = node.__typename === 'File'
  const { id: entry, isFavourite } = node
  const mark = () =>
    isFavourite
      ? mutate(REMOVE_FAVOURITES, { input: { entries: [entry] } })
      : mutate(ADD_FAVOURITES, { input: { entries: [{ id: entry }] } })
  return (
    <>
      {isFile ? (
        <FilePreview key={node.md5} file={node} />
      ) : (
        <div className="preview none">
          <EntryIcon contentType={null} size="tile" />
        </div>
      )}
      <div>
        <Button onPress={() => void mark().catch(toastError)}>
          <Star className={isFavourite ? 'star' : undefined} />
          {text(isFavourite ? 'unmark' : 'mark')}
        </Button>
      </div>
      <dl className="facts">
        {isFile ? (
          <Fact label={text('kind')}>{node.contentType}</Fact>
        ) : (
          <Fact label={text('contents')}>
            {text('files', { count: node.fileCount, shown: formatNumber(node.fileCount) })}
          </Fact>
        )}
        <Fact label={text('size')}>
          {formatBytes(node.size)}
          {node.size >= 1024 && (
            <span className="soft">
              {' '}
              ({text('bytes', { count: node.size, shown: formatNumber(node.size) })})
            </span>
          )}
        </Fact>
        <Fact label={text('updated')}>{formatExact(node.updatedAt)}</Fact>
        {isFile && ![node.updatedAt, node.createdAt].includes(node.modifiedAt) && (
          <Fact label={text('fileDate')}>{formatExact(node.modifiedAt)}</Fact>
        )}
        <Fact label={text('created')}>{formatExact(node.createdAt)}</Fact>
        {isFile && node.sentBy && (
          <Fact label={text('sentBy')}>
            <span dir="auto">{node.sentBy}</span>
          </Fact>
        )}
        {node.createdBy && (
          <Fact label={text('createdBy')}>
            <span dir="auto">{personName(node.createdBy)}</span>
          </Fact>
        )}
        {isFile && isPictureEntry(node) && <PhotoFacts key={node.md5} id={node.id} />}
        {node.tags.length > 0 && (
          <Fact label={text('tagsOf')}>
            <span className="tag-chips all">
              {node.tags.map(tag => (
                <Link
                  key={tag.id}
                  to="/search"
                  search={{ q: withFilters('', { tag: tag.name, drive: workspace?.slug ?? 'me' }) }}
                  className={`tag-chip tag-${tag.colour.toLowerCase()}`}
                  title={text('withTag', { name: tag.name })}
                  dir="auto"
                >
                  {tag.name}
                </Link>
              ))}
            </span>
          </Fact>
        )}
        {isFile && (
          <Fact label="MD5">
            <code>{node.md5}</code>
          </Fact>
        )}
      </dl>
      <Locks locks={node.locks ?? []} entryId={node.id} reload={loadAgain} />
      {onShare && <SharedWith file={node} onShare={onShare} />}
      {isFile && workspace === null && <Note id={node.id} note={node.note ?? ''} />}
      {isFile && <Versions file={node} />}
      <EntryActivity id={id} drive={node.drive.id} workspace={workspace} />
    </>
  )
}

/** The note on a file or folder. It is saved on blur. */
function Note({ id, note }: { id: string; note: string }) {
  const [typed, setTyped] = useState(note)
  useEffect(() => setTyped(note), [note])
  const save = () => {
    const input = { file: id, content: typed }
    if (typed !== note) mutate(WRITE_NOTE, { input }, { keepalive: true }).catch(toastError)
  }
  return (
    <div className="field">
      <label htmlFor="note">{text('note')}</label>
      <textarea
        id="note"
        className="input"
        rows={4}
        maxLength={MAX_NOTE}
        placeholder={text('noteHint')}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        onBlur={save}
      />
    </div>
  )
}
