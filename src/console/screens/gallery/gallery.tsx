import './gallery.css'
import '../files/files.css'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useMemo, useRef, useState } from 'react'
import { hrefOf, parentOf, screenOf, trim, usePlace } from '../../drive/place.ts'
import { nothing } from '../../listing/selection.ts'
import { useFocusBack } from '../../listing/use-focus-back.ts'
import { keysOfScreen, usePageKeys } from '../../listing/use-page-keys.ts'
import { FileImage } from '../../parts/icons.ts'
import { AtPoint, type Point } from '../../parts/menu.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx'
import { toast, toastError } from '../../parts/toasts.tsx'
import { useTitle } from '../../parts/use-title.ts'
import { UploadButton } from '../../uploads/button/upload-button.tsx'
import { useUploadPlace } from '../../uploads/place.ts'
import { actWith } from '../files/act.ts'
import { clipboard } from '../files/clipboard.ts'
import { type Commands, mayShare, type Open } from '../files/commands.ts'
import type { Entry } from '../files/documents.ts'
import { FilesMenu } from '../files/files-menu.ts'
import { Details } from '../files/on-demand/details.tsx'
import { useFilesSearch } from '../files/search.ts'
import { isOfFolder, useKeys } from '../files/use-keys.ts'
import { Bar } from './bar.tsx'
import type { Picture } from './documents.ts'
import { Grid, type GridHandle } from './grid.tsx'
import type { Section } from './layout.ts'
import { Look } from './look.tsx'
import { text } from './text.ts'
import type { TileHandlers } from './tile.tsx'
import { useGallery } from './use-gallery.ts'

const EntryDialogs = lazy(() =>
  import('../files/on-demand/entry-dialogs.tsx').then(({ EntryDialogs }) => ({
    default: EntryDialogs,
  })),
)

/** The most pictures that can be selected. Actions run in chunks of a hundred. */
const MOST_SELECTED = 2000

const isModifier = (key: string) => ['Alt', 'Control', 'Meta', 'Shift'].includes(key)

/** The pictures and videos of a drive, by the time they were taken. */
export function Gallery() {
  const place = usePlace()
  const navigate = useNavigate()
  const [search, setSearch] = useFilesSearch()
  const gallery = useGallery(place.workspace)
  const { drive, refresh } = gallery
  const [picked, pick] = useState<ReadonlyMap<string, Picture>>(new Map())
  const [anchor, setAnchor] = useState(-1)
  const [cursor, setCursor] = useState(-1)
  const [open, setOpen] = useState<Open>(null)
  const [menu, setMenu] = useState<{ at: Point; entries: readonly Entry[] } | null>(null)
  const grid = useRef<GridHandle>(null)
  /** A selection whose pictures are loading. */
  const pending = useRef<Promise<void>>(undefined)
  const focusGrid = useCallback(() => grid.current?.focus(), [])
  const taken = clipboard.use()
  const cut = useMemo(() => new Set(taken?.entries.map(({ id }) => id)), [taken])
  useFocusBack(open !== null || menu !== null || search.open !== undefined, focusGrid)

  const latest = useRef({ gallery, picked, anchor, refresh })
  latest.current = { gallery, picked, anchor, refresh }
  const hasTrash = drive?.trashDays !== 0
  const { act } = useMemo(
    () =>
      actWith({ id: drive?.id ?? '', share: undefined, hasTrash }, () => latest.current.refresh()),
    [drive?.id, hasTrash],
  )
  const title = gallery.title === null ? text('title') : text('titleOf', { name: gallery.title })
  useTitle(title)
  const root = gallery.title ?? text('root')
  const target = drive && { drive: drive.id, folder: '' }
  useUploadPlace(target && { ...target, label: root, mayUpload: drive.canWrite })

  const layoutNow = () => grid.current?.layout()
  const pictureAt = (index: number): Picture | undefined => {
    const layout = layoutNow()
    return layout && latest.current.gallery.at(layout, index)
  }
  /**
   * Selects a range of pictures, and loads those that are out of view.
   *
   * @param kept the rest of the selection
   */
  function pickRange(
    from: number,
    to: number,
    kept: ReadonlyMap<string, Picture> = new Map(),
  ): void {
    const picking = loadAndPick(from, to, kept)
      .catch(toastError)
      .finally(() => {
        if (pending.current === picking) pending.current = undefined
      })
    pending.current = picking
  }
  async function loadAndPick(from: number, to: number, kept: ReadonlyMap<string, Picture>) {
    const layout = layoutNow()
    if (!layout) return
    const count = Math.min(to - from + 1, MOST_SELECTED)
    if (count < to - from + 1) toast({ message: text('tooMany', { count: MOST_SELECTED }) })
    await latest.current.gallery.load(layout, from, from + count - 1)
    const range = Array.from({ length: count }, (_, i) =>
      latest.current.gallery.at(layout, from + i),
    )
    pick(
      new Map([
        ...kept,
        ...range.flatMap(picture => (picture ? [[picture.id, picture] as const] : [])),
      ]),
    )
  }
  function toggle(index: number) {
    const picture = pictureAt(index)
    if (!picture) return
    const next = new Map(latest.current.picked)
    if (!next.delete(picture.id)) next.set(picture.id, picture)
    pick(next)
    setAnchor(index)
    setCursor(index)
  }
  function pickOnly(index: number) {
    setAnchor(index)
    setCursor(index)
    pickRange(index, index)
  }
  function extendTo(index: number) {
    const from = latest.current.anchor < 0 ? index : latest.current.anchor
    setCursor(index)
    pickRange(Math.min(from, index), Math.max(from, index))
  }
  const openAt = (picture: Entry | undefined) =>
    picture && setSearch({ open: picture.id }, { push: true })

  const does = { toggle, pickOnly, extendTo, openAt, pictureAt }
  const doing = useRef(does)
  doing.current = does
  const handlers = useMemo((): TileHandlers => {
    let lastPointer = 'mouse'
    return {
      press(index, event) {
        const { toggle, pickOnly, extendTo, openAt, pictureAt } = doing.current
        lastPointer =
          (event.nativeEvent as unknown as globalThis.PointerEvent).pointerType ?? 'mouse'
        focusGrid()
        if (event.shiftKey) return extendTo(index)
        if (event.ctrlKey || event.metaKey) return toggle(index)
        // A tap opens a picture. Once something is selected, a tap extends the selection.
        if (lastPointer !== 'touch') return pickOnly(index)
        return latest.current.picked.size > 0 ? toggle(index) : openAt(pictureAt(index))
      },
      open: index =>
        lastPointer !== 'touch' && doing.current.openAt(doing.current.pictureAt(index)),
      mark(index) {
        focusGrid()
        doing.current.toggle(index)
      },
      menu(index, at) {
        const picture = doing.current.pictureAt(index)
        if (!picture) return
        const { picked } = latest.current
        if (!picked.has(picture.id)) doing.current.pickOnly(index)
        setMenu({ at, entries: picked.has(picture.id) ? [...picked.values()] : [picture] })
      },
    }
  }, [focusGrid])

  // The latest state of the loaded pictures.
  const { known } = gallery
  const selected = useMemo(
    () => [...picked].map(([id, picture]) => known.get(id) ?? picture),
    [picked, known],
  )
  const selection = useMemo(() => ({ ...nothing, ids: new Set(picked.keys()) }), [picked])
  const removeNow = (gone: readonly Entry[]) =>
    act(actions => {
      pick(new Map())
      return actions.remove(gone)
    })
  const commands: Commands = {
    place,
    search,
    setSearch,
    drive,
    target,
    selected,
    selection,
    act,
    setOpen,
    setMenu,
    openEntry: openAt,
    select: ({ ids }) => pick(new Map([...picked].filter(([id]) => ids.has(id)))),
    remove: gone => (hasTrash ? removeNow(gone) : setOpen('delete')),
    // Renaming opens the folder, which has room for an input.
    startRename: ({ id, path }) =>
      void navigate({
        to: hrefOf({ ...place, path: parentOf(trim(path)) }),
        search: { sel: id } as never,
      }),
    openScreen: screen => void navigate({ to: screenOf(place, screen) }),
  }
  const onCommandKey = useKeys(commands)
  function onKey(event: Parameters<typeof onCommandKey>[0] & { preventDefault(): void }): boolean {
    const isCommand = event.ctrlKey || event.metaKey
    if (event.key === ' ' && cursor >= 0) toggle(cursor)
    else if (event.key === 'Enter' && !event.altKey && !isCommand && cursor >= 0)
      openAt(pictureAt(cursor))
    else if (event.key === 'Escape' && picked.size > 0) pick(new Map())
    else if (isCommand && event.key.toLowerCase() === 'a') selectMonthOf(Math.max(0, cursor))
    else return !isOfFolder(event) && onCommand(event)
    return true
  }
  /** Keys that act on the selection wait for it. */
  const command = useRef(onCommandKey)
  command.current = onCommandKey
  function onCommand(event: Parameters<typeof onCommandKey>[0]): boolean {
    if (!pending.current) return onCommandKey(event)
    if (isModifier(event.key)) return false
    const { key, altKey, ctrlKey, metaKey, shiftKey, currentTarget } = event
    const pressed = { key, altKey, ctrlKey, metaKey, shiftKey, currentTarget }
    // The screen renders the selection before this runs.
    void pending.current.then(() => setTimeout(() => command.current(pressed)))
    return true
  }
  /** Keys pressed on another control of the screen. */
  const onScreenKey = (event: Parameters<typeof onCommandKey>[0]) =>
    (picked.size > 0 || pending.current !== undefined) && !isOfFolder(event) && onCommand(event)
  usePageKeys(onKey)
  const selectMonth = ({ first, count }: Section) => {
    setAnchor(first)
    pickRange(first, first + count - 1, picked)
    // The button that was pressed does not handle the keys that act on the selection.
    focusGrid()
  }
  const selectMonthOf = (index: number) => {
    const section = layoutNow()?.sections.findLast(({ first }) => first <= index)
    if (section) selectMonth(section)
  }

  const count = gallery.months.reduce((sum, month) => sum + month.count, 0)
  const workspace =
    place.workspace === null ? null : { slug: place.workspace, name: gallery.title ?? '' }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: handles keys that bubble up from the screen
    <div className="files gallery" onKeyDown={keysOfScreen(onScreenKey)}>
      <div className="screen-head">
        <h1 dir="auto">{title}</h1>
        <Bar commands={commands} count={count} />
      </div>
      <div className="files-main">
        <div className="files-list">
          {gallery.error ? (
            <ErrorState error={gallery.error} retry={refresh} />
          ) : gallery.isLoading ? (
            <Skeleton rows={10} />
          ) : !drive ? (
            <EmptyState icon={FileImage} title={text('missing')} />
          ) : count === 0 ? (
            <EmptyState icon={FileImage} title={text('empty')} hint={text('emptyHint')}>
              {drive.canWrite && target && <UploadButton to={target} />}
            </EmptyState>
          ) : (
            <Grid
              ref={grid}
              gallery={gallery}
              selected={selection.ids}
              cut={cut}
              cursor={cursor}
              handlers={handlers}
              onSelectMonth={selectMonth}
              onGo={(index, { shiftKey, isCommand }) => {
                if (shiftKey) extendTo(index)
                else if (isCommand) setCursor(index)
                else pickOnly(index)
              }}
              onKey={onKey}
            />
          )}
        </div>
        {search.details && (
          <Details
            entries={selected}
            folder={null}
            workspace={workspace}
            begin={search.details === true ? undefined : search.details}
            onShare={mayShare(drive, selected) ? () => setOpen('share') : undefined}
            onClose={() => {
              setSearch({ details: undefined })
              focusGrid()
            }}
          />
        )}
      </div>
      {menu && (
        <AtPoint
          at={menu.at}
          opened={opened => (
            <FilesMenu {...opened} commands={commands} of={menu.entries} label={text('actions')} />
          )}
          onClose={() => {
            setMenu(null)
            focusGrid()
          }}
        />
      )}
      <Suspense>
        {open !== null && (
          <EntryDialogs
            commands={commands}
            open={open}
            removeNow={removeNow}
            refresh={refresh}
            root={root}
            folder=""
          />
        )}
        {search.open && (
          <Look
            id={search.open}
            gallery={gallery}
            layout={layoutNow()}
            onShow={(id, index) => {
              setSearch({ open: id })
              if (index < 0) return
              setCursor(index)
              grid.current?.scrollTo(index)
            }}
            onDownload={entry => act(actions => actions.download([entry]))}
            commands={commands}
            onSelect={entry =>
              pick(new Map([[entry.id, known.get(entry.id) ?? (entry as Picture)]]))
            }
            onClose={() => {
              setSearch({ open: undefined })
              focusGrid()
            }}
          />
        )}
      </Suspense>
    </div>
  )
}
