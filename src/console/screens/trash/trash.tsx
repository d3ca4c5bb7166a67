import './trash.css'
import { useNavigate, useParams } from '@tanstack/react-router'
import { type KeyboardEvent, lazy, Suspense, useCallback, useMemo, useRef, useState } from 'react'
import { formatNumber } from '../../i18n/format.ts'
import { useHidden } from '../../listing/held-back.ts'
import { Listing, type ListingHandle, pointOf } from '../../listing/listing.tsx'
import { nothing, only, press, toggle, within } from '../../listing/selection.ts'
import { useFocusBack } from '../../listing/use-focus-back.ts'
import { keysOfScreen } from '../../listing/use-page-keys.ts'
import { Button } from '../../parts/button.tsx'
import { FolderInput, Trash2, Undo2, X } from '../../parts/icons.ts'
import { ContextMenu, type MenuEntry, type Point } from '../../parts/menu.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx'
import { useTitle } from '../../parts/use-title.ts'
import { createActions, type Restoring } from './actions.ts'
import type { TrashItem } from './documents.ts'
import { type Handlers, Heads, Row } from './row.tsx'
import { text } from './text.ts'
import { useTrash } from './use-trash.ts'

const dialogs = () => import('./dialogs.tsx')
const DeleteForEver = lazy(() =>
  dialogs().then(({ DeleteForEver }) => ({ default: DeleteForEver })),
)
const Empty = lazy(() => dialogs().then(({ Empty }) => ({ default: Empty })))
const Taken = lazy(() => dialogs().then(({ Taken }) => ({ default: Taken })))
const Picker = lazy(() =>
  import('../../drive/picker.tsx').then(({ Picker }) => ({ default: Picker })),
)

/** The open dialog and its items. */
type Open =
  | { what: 'picker' | 'delete'; items: readonly TrashItem[] }
  | { what: 'taken'; restoring: Restoring }
  | { what: 'empty' }
  | null

/** The trash of a drive: restore items or delete them permanently. */
export function Trash() {
  const { slug = null } = useParams({ strict: false }) as { slug?: string }
  const trash = useTrash(slug)
  const { drive, workspace, refresh } = trash
  const hidden = useHidden()
  const entries = useMemo(
    () => trash.entries.filter(({ id }) => !hidden.has(id)),
    [trash.entries, hidden],
  )
  const byId = useMemo(() => new Map(entries.map(item => [item.id, item])), [entries])
  const [wanted, select] = useState(nothing)
  const selection = useMemo(() => within(wanted, id => byId.has(id)), [wanted, byId])
  const selected = useMemo(
    () => [...selection.ids].flatMap(id => byId.get(id) ?? []),
    [selection.ids, byId],
  )
  const [open, setOpen] = useState<Open>(null)
  const [menu, setMenu] = useState<{ at: Point; items: readonly TrashItem[] } | null>(null)
  const listing = useRef<ListingHandle>(null)
  const focusList = useCallback(() => listing.current?.focus(), [])
  useFocusBack(open !== null || menu !== null, focusList)

  const root = workspace?.name ?? text('root')
  const navigate = useNavigate()
  const latest = useRef({ refresh, navigate, entries, selection })
  latest.current = { refresh, navigate, entries, selection }
  const actions = useMemo(
    () =>
      createActions({
        drive: drive?.id ?? '',
        workspace: slug,
        root,
        after: () => latest.current.refresh(),
        navigate: href => void latest.current.navigate({ href }),
        onTaken: restoring => setOpen({ what: 'taken', restoring }),
      }),
    [drive?.id, slug, root],
  )
  const handlers = useMemo(
    (): Handlers => ({
      press(item, event) {
        const { entries, selection } = latest.current
        const isTouch = (event.nativeEvent as PointerEvent).pointerType === 'touch'
        const order = () => entries.map(({ id }) => id)
        focusList()
        select(isTouch ? toggle(selection, item.id) : press(order, selection, item.id, event))
      },
      mark(item) {
        focusList()
        select(toggle(latest.current.selection, item.id))
      },
      menu(item, at) {
        const { entries, selection } = latest.current
        const isIn = selection.ids.has(item.id)
        if (!isIn) select(only(item.id))
        setMenu({ at, items: isIn ? entries.filter(({ id }) => selection.ids.has(id)) : [item] })
      },
    }),
    [focusList],
  )
  const title = workspace ? text('titleOf', { name: workspace.name }) : text('title')
  useTitle(title)

  const restore = (items: readonly TrashItem[]) => void actions.restore({ items })
  const menuOf = (items: readonly TrashItem[]): MenuEntry[] => [
    ...(drive?.canWrite
      ? [
          { id: 'restore', label: text('restore'), icon: Undo2, run: () => restore(items) },
          {
            id: 'restore-to',
            label: text('restoreTo'),
            icon: FolderInput,
            run: () => setOpen({ what: 'picker', items }),
          },
        ]
      : []),
    ...(drive?.canDelete
      ? [
          'separator' as const,
          {
            id: 'delete',
            label: text('deleteForEver'),
            icon: Trash2,
            keys: 'Del',
            danger: true,
            run: () => setOpen({ what: 'delete', items }),
          },
        ]
      : []),
  ]
  function onKey(event: KeyboardEvent): boolean {
    if (selected.length === 0) return false
    if (event.key === 'Delete' && drive?.canDelete) setOpen({ what: 'delete', items: selected })
    else if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey))
      setMenu({ at: pointOf(selection, event.currentTarget), items: selected })
    else return false
    return true
  }
  const days = drive?.trashDays ?? 0
  const isEmpty = !trash.isLoading && entries.length === 0 && !trash.hasMore
  const menuEntries = menu && menuOf(menu.items)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: handles keys that bubble up from the screen
    <div className="trash" onKeyDown={keysOfScreen(onKey)}>
      <div className="screen-head">
        <h1 dir="auto">{title}</h1>
        <div className="toolbar" role="toolbar" aria-label={text('actions')}>
          {selected.length > 0 ? (
            <>
              <Button look="icon" aria-label={text('clear')} onPress={() => select(nothing)}>
                <X />
              </Button>
              <span className="count strong" role="status">
                {text('selected', { count: selected.length })}
              </span>
              {drive?.canWrite && (
                <>
                  <Button onPress={() => restore(selected)}>
                    <Undo2 />
                    {text('restore')}
                  </Button>
                  <Button
                    look="icon"
                    aria-label={text('restoreTo')}
                    onPress={() => setOpen({ what: 'picker', items: selected })}
                  >
                    <FolderInput />
                  </Button>
                </>
              )}
              {drive?.canDelete && (
                <Button
                  look="icon"
                  aria-label={text('deleteForEver')}
                  onPress={() => setOpen({ what: 'delete', items: selected })}
                >
                  <Trash2 />
                </Button>
              )}
            </>
          ) : (
            <>
              <span className="count" role="status">
                {entries.length > 0 &&
                  text(trash.hasMore ? 'countMore' : 'count', {
                    count: entries.length,
                    shown: formatNumber(entries.length),
                  })}
              </span>
              {drive?.canDelete && entries.length > 0 && (
                <Button onPress={() => setOpen({ what: 'empty' })}>
                  <Trash2 />
                  {text('empty')}
                </Button>
              )}
            </>
          )}
        </div>
      </div>
      {!isEmpty && drive && <p className="trash-hint">{text('hint', { days })}</p>}
      {trash.error ? (
        <ErrorState error={trash.error} retry={refresh} />
      ) : trash.isLoading ? (
        <Skeleton rows={10} />
      ) : !drive ? (
        <EmptyState icon={Trash2} title={text('missing')} />
      ) : isEmpty ? (
        <EmptyState
          icon={Trash2}
          title={text(days > 0 ? 'isEmpty' : 'none')}
          hint={text(days > 0 ? 'isEmptyHint' : 'noneHint', { days })}
        />
      ) : (
        <Listing
          ref={listing}
          label={text('items')}
          entries={entries}
          hasMore={trash.hasMore}
          more={trash.more}
          lines="two"
          selection={selection}
          select={select}
          cell={(item, cell) => <Row {...cell} item={item} root={root} handlers={handlers} />}
          open={item => setMenu({ at: pointOf(only(item.id), document.body), items: [item] })}
          header={<Heads />}
          onKey={onKey}
        />
      )}
      {menu && menuEntries && menuEntries.length > 0 && (
        <ContextMenu
          at={menu.at}
          label={text('actions')}
          entries={menuEntries}
          onClose={() => {
            setMenu(null)
            focusList()
          }}
        />
      )}
      <Suspense>
        {open?.what === 'picker' && drive && (
          <Picker
            drive={drive.id}
            title={text('restoreCount', { count: open.items.length })}
            doing="restore"
            label={text('restoreHere')}
            root={root}
            start=""
            onPick={to => void actions.restore({ items: open.items, to })}
            onClose={() => setOpen(null)}
          />
        )}
        {open?.what === 'delete' && (
          <DeleteForEver
            count={open.items.length}
            name={open.items[0]?.name ?? ''}
            onConfirm={() => void actions.deleteForEver(open.items)}
            onClose={() => setOpen(null)}
          />
        )}
        {open?.what === 'empty' && (
          <Empty onConfirm={() => void actions.empty()} onClose={() => setOpen(null)} />
        )}
        {open?.what === 'taken' && (
          <Taken
            restoring={open.restoring}
            mayReplace={Boolean(drive?.canDelete)}
            onRestore={restoring => void actions.restore(restoring)}
            onClose={() => setOpen(null)}
          />
        )}
      </Suspense>
    </div>
  )
}
