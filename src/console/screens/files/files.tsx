import './files.css'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { hrefOf, screenOf, usePlace } from '../../drive/place.ts'
import { Listing, type ListingHandle } from '../../listing/listing.tsx'
import { only } from '../../listing/selection.ts'
import { useFocusBack } from '../../listing/use-focus-back.ts'
import { keysOfScreen, usePageKeys } from '../../listing/use-page-keys.ts'
import { LinkButton } from '../../parts/button.tsx'
import { FolderOpen, SearchX } from '../../parts/icons.ts'
import { AtPoint, type Point } from '../../parts/menu.tsx'
import { optional } from '../../parts/optional.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx'
import { useTitle } from '../../parts/use-title.ts'
import { shortcuts } from '../../shell/shortcuts.tsx'
import { UploadButton } from '../../uploads/button/upload-button.tsx'
import { useUploadPlace } from '../../uploads/place.ts'
import { actWith, loadActions } from './act.ts'
import { Breadcrumbs } from './breadcrumbs.tsx'
import { clipboard } from './clipboard.ts'
import { mayShare, type Open } from './commands.ts'
import type { Entry } from './documents.ts'
import { useDragAndDrop } from './drag.ts'
import { Row, Tile } from './entry.tsx'
import { FilesMenu } from './files-menu.ts'
import { useFilesSearch } from './search.ts'
import { ColumnHeads } from './sorting.tsx'
import { text } from './text.ts'
import { Toolbar } from './toolbar.tsx'
import { useFolder } from './use-folder.ts'
import { useHandlers } from './use-handlers.tsx'
import { useKeys } from './use-keys.ts'
import { useOpen } from './use-open.ts'
import { useRename } from './use-rename.ts'
import { useSelection } from './use-selection.ts'

const dialogs = () => import('./on-demand/dialogs.tsx')
const NewFolder = lazy(() => dialogs().then(({ NewFolder }) => ({ default: NewFolder })))
const entryDialogs = () => import('./on-demand/entry-dialogs.tsx')
const EntryDialogs = lazy(() =>
  entryDialogs().then(({ EntryDialogs }) => ({ default: EntryDialogs })),
)
const Details = lazy(() =>
  import('./on-demand/details.tsx').then(({ Details }) => ({ default: Details })),
)
const RequestForm = lazy(() =>
  import('../../requests/form.tsx').then(({ RequestForm }) => ({ default: RequestForm })),
)
/** If this part cannot be loaded, the palette offers fewer commands. */
const Offers = optional(
  () => import('./on-demand/offers.ts').then(({ Offers }) => Offers),
  () => null,
)
const TagFilter = lazy(() =>
  import('../../tags/filter.tsx').then(({ TagFilter }) => ({ default: TagFilter })),
)
const Viewer = lazy(() =>
  import('./on-demand/viewer.tsx').then(({ Viewer }) => ({ default: Viewer })),
)

/** Preloads the parts that are used most. */
function loadLater() {
  const failed = () => {}
  loadActions().catch(failed)
  const timer = setTimeout(() => Promise.all([dialogs(), entryDialogs()]).catch(failed), 1500)
  return () => clearTimeout(timer)
}

const none: ReadonlySet<string> = new Set()

/**
 * The files of a folder in a drive or share.
 *
 * @param useEntries loads the entries; must not change while the screen is shown
 */
export function Files({ useEntries = useFolder }: { useEntries?: typeof useFolder }) {
  const place = usePlace()
  const navigate = useNavigate()
  const [search, setSearch] = useFilesSearch()
  const folder = useEntries(place, search)
  const { drive, entries, refresh } = folder
  const list = hrefOf(place)
  const [selection, select, selected] = useSelection(entries, search, setSearch, list)
  const [open, setOpen] = useState<Open>(null)
  const [menu, setMenu] = useState<{ at: Point; entries: readonly Entry[] } | null>(null)
  const listing = useRef<ListingHandle>(null)
  const taken = clipboard.use()
  const cutIds = useMemo(() => (taken ? new Set(taken.entries.map(({ id }) => id)) : none), [taken])

  // The first render has no drive yet, so nothing can be done.
  const latest = useRef(refresh)
  latest.current = refresh
  const hasTrash = drive?.trashDays !== 0
  const share = drive?.share?.token
  const { attempt, act } = useMemo(
    () => actWith({ id: drive?.id ?? '', share, hasTrash }, () => latest.current()),
    [drive?.id, share, hasTrash],
  )
  useEffect(loadLater, [])
  const openEntry = useOpen(place, search, setSearch)
  const dnd = useDragAndDrop({ drive, act, selected, selection })
  const renaming = useRename(attempt, list, () => listing.current?.focus())
  const handlers = useHandlers({
    place,
    selection,
    select,
    entries,
    dnd,
    openEntry,
    renaming,
    setMenu,
    focus: () => listing.current?.focus(),
  })

  const label = place.path.split('/').at(-1) || (folder.title ?? text('root'))
  const isMissing = folder.folder === null
  const target = drive && !isMissing ? { drive: drive.id, share, folder: place.path } : undefined
  useUploadPlace(target && { ...target, label, mayUpload: drive?.canWrite === true })
  const clear = useRef(() => {})
  clear.current = () => select({ ...selection, ids: none })
  const removeNow = (gone: readonly Entry[]) =>
    act(actions => {
      clear.current()
      return actions.remove(gone)
    })
  const remove = (gone: readonly Entry[]) => (hasTrash ? removeNow(gone) : setOpen('delete'))
  const commands = {
    place,
    search,
    setSearch,
    drive,
    target,
    selected,
    selection,
    select,
    act,
    remove,
    setOpen,
    startRename: renaming.start,
    setMenu,
    openEntry,
    openScreen: (screen: 'trash' | 'activity' | 'pictures') =>
      void navigate({ to: screenOf(place, screen) }),
  }
  const onKey = useKeys(commands)
  usePageKeys(onKey)
  useTitle(label, place.path && folder.title)

  const hasShortcuts = shortcuts.use()
  const focusList = useCallback(() => listing.current?.focus(), [])
  useFocusBack(
    open !== null || hasShortcuts || search.open !== undefined || menu !== null,
    focusList,
  )
  const EntryCell = search.view === 'grid' ? Tile : Row
  const isEmpty = !folder.isLoading && entries.length === 0 && !folder.hasMore
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: handles keys and drops that bubble up from the screen
    <div className="files" onKeyDown={keysOfScreen(onKey)}>
      <div className="screen-head">
        <Breadcrumbs place={place} title={folder.title} dnd={dnd} />
        <Toolbar {...commands} count={entries.length} hasMore={folder.hasMore} />
      </div>
      {search.tags !== undefined && drive && !share && (
        <Suspense>
          <TagFilter
            drive={drive.id}
            tags={search.tags}
            onTags={tags => setSearch({ tags, sel: undefined })}
          />
        </Suspense>
      )}
      <div className="files-main">
        {/* biome-ignore lint/a11y/noStaticElementInteractions: handles right clicks beside the entries */}
        <div
          className="files-list"
          onContextMenu={event => {
            if (event.defaultPrevented) return
            event.preventDefault()
            setMenu({ at: { x: event.clientX, y: event.clientY }, entries: [] })
          }}
        >
          {folder.error ? (
            <ErrorState error={folder.error} retry={refresh} />
          ) : isMissing ? (
            <EmptyState icon={FolderOpen} title={text('missing')} hint={text('missingHint')}>
              <LinkButton href={hrefOf({ ...place, path: '' })}>
                {folder.title ?? text('root')}
              </LinkButton>
            </EmptyState>
          ) : folder.isLoading ? (
            <Skeleton rows={10} />
          ) : isEmpty && search.tags ? (
            <EmptyState
              icon={SearchX}
              title={text('nothingTagged')}
              hint={text('nothingTaggedHint')}
            />
          ) : isEmpty ? (
            <EmptyState
              icon={FolderOpen}
              title={text('empty')}
              hint={drive?.canWrite ? text('emptyHint') : undefined}
            >
              {drive?.canWrite && target && <UploadButton to={target} />}
            </EmptyState>
          ) : (
            <Listing
              ref={listing}
              label={text('entries')}
              entries={entries}
              hasMore={folder.hasMore}
              more={folder.more}
              view={search.view}
              tiles={search.size}
              selection={selection}
              select={select}
              cell={(entry, cell) => (
                <EntryCell
                  {...cell}
                  entry={entry}
                  draft={renaming.draft?.id === entry.id ? renaming.draft : null}
                  isCut={cutIds.has(entry.id)}
                  handlers={handlers}
                />
              )}
              open={handlers.open}
              header={
                search.view === 'grid' ? null : (
                  <ColumnHeads search={search} setSearch={setSearch} />
                )
              }
              onKey={onKey}
            />
          )}
        </div>
        {search.details && !share && (
          <Suspense>
            <Details
              entries={selected}
              folder={folder.folder ?? null}
              workspace={
                place.workspace === null
                  ? null
                  : { slug: place.workspace, name: folder.title ?? '' }
              }
              begin={search.details === true ? undefined : search.details}
              onShare={mayShare(drive, selected) ? () => setOpen('share') : undefined}
              onClose={() => {
                setSearch({ details: undefined })
                focusList()
              }}
            />
          </Suspense>
        )}
      </div>
      {menu && (
        <AtPoint
          at={menu.at}
          opened={open => (
            <FilesMenu {...open} commands={commands} of={menu.entries} label={text('actions')} />
          )}
          onClose={() => {
            setMenu(null)
            focusList()
          }}
        />
      )}
      <Offers commands={commands} />
      <Suspense>
        {open === 'new-folder' && (
          <NewFolder
            onEnd={() => setOpen(null)}
            create={name => attempt(actions => actions.createFolder(place.path, name))}
          />
        )}
        {open === 'request' && folder.folder && (
          <RequestForm
            of={{ folder: selected[0] ?? folder.folder }}
            onClose={() => setOpen(null)}
          />
        )}
        {open !== null && (
          <EntryDialogs
            commands={commands}
            open={open}
            removeNow={removeNow}
            refresh={refresh}
            folder={place.path}
            root={folder.title ?? text('root')}
          />
        )}
        {search.open && (
          <Viewer
            id={search.open}
            entries={entries}
            share={share}
            onShow={id => setSearch({ open: id, edit: undefined })}
            onDownload={entry => act(actions => actions.download([entry]))}
            commands={commands}
            onSelect={({ id }) => select(only(id))}
            isEditing={search.edit === true}
            onEdit={isOn => setSearch({ edit: isOn || undefined })}
            onSaved={refresh}
            onClose={() => {
              setSearch({ open: undefined, edit: undefined })
              focusList()
            }}
          />
        )}
      </Suspense>
    </div>
  )
}
