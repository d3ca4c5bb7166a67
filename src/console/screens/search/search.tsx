import './search.css'
import { useNavigate, useSearch } from '@tanstack/react-router'
import {
  type KeyboardEvent,
  lazy,
  Suspense,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { useHidden } from '../../listing/held-back.ts'
import { Listing, type ListingHandle } from '../../listing/listing.tsx'
import { nothing, only, press, toggle, within } from '../../listing/selection.ts'
import { useFocusBack } from '../../listing/use-focus-back.ts'
import { keysOfScreen } from '../../listing/use-page-keys.ts'
import { Button } from '../../parts/button.tsx'
import { ArrowDownUp, FileQuestion, Search as Magnifier, SearchX } from '../../parts/icons.ts'
import { AtPoint, Menu, type Point } from '../../parts/menu.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx'
import { useTitle } from '../../parts/use-title.ts'
import type { Hit } from '../../search/hit.ts'
import { useMe } from '../../shell/me.ts'
import { SelectionActions } from '../files/selection-actions.tsx'
import { isOfFolder, useKeys } from '../files/use-keys.ts'
import { orders, type SearchSearch } from './address.ts'
import { Dialogs } from './dialogs.tsx'
import { Filters } from './filters.tsx'
import { type Handlers, Row } from './row.tsx'
import { text } from './text.ts'
import { useActing } from './use-acting.ts'
import { useHits } from './use-hits.ts'

const Help = lazy(() => import('./help.tsx').then(({ Help }) => ({ default: Help })))
const HitsMenu = lazy(() =>
  import('./open-menu.tsx').then(({ HitsMenu }) => ({ default: HitsMenu })),
)

const field = () => document.querySelector<HTMLInputElement>('.search-box input')

/**
 * Search results from all of the person's drives and received shares. The query text is in the
 * search field and in the URL.
 */
export function Search() {
  const { q = '', order: chosen, open: shown }: SearchSearch = useSearch({ strict: false })
  const order = chosen ?? 'relevance'
  const navigate = useNavigate()
  const me = useMe()
  const change = useCallback(
    (next: SearchSearch, { push = false } = {}) =>
      void navigate({
        to: '/search',
        search: ((now: SearchSearch) => ({ ...now, ...next })) as never,
        replace: !push,
        resetScroll: false,
      }),
    [navigate],
  )
  const { results, isLoading, error, more, refresh } = useHits(q, order)
  const hidden = useHidden()
  const hits = useMemo(
    () => (results?.hits ?? []).filter(({ id }) => !hidden.has(id)),
    [results?.hits, hidden],
  )
  const byId = useMemo(() => new Map(hits.map(hit => [hit.id, hit])), [hits])
  const [wanted, select] = useState(nothing)
  const selection = useMemo(() => within(wanted, id => byId.has(id)), [wanted, byId])
  const selected = useMemo(
    () => [...selection.ids].flatMap(id => byId.get(id) ?? []),
    [selection.ids, byId],
  )
  const [menu, setMenu] = useState<{ at: Point; of: readonly Hit[] } | null>(null)
  const [hasHelp, setHelp] = useState(false)
  const listing = useRef<ListingHandle>(null)
  const focusList = useCallback(() => listing.current?.focus(), [])
  const acting = useActing({
    selected,
    selection,
    select,
    refresh,
    setMenu,
    ownDrive: me?.drive.id ?? '',
    show: hit => change({ open: hit.id }, { push: true }),
  })
  const { commands, drive, openHit, openFolder } = acting
  useFocusBack(acting.open !== null || menu !== null || shown !== undefined, focusList)
  useTitle(q.trim() || undefined, text('title'))

  // Another query or order is a new list, so nothing is selected.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs for each query and order
  useEffect(() => select(nothing), [q, order])
  const isBlank = q.trim() === ''
  useEffect(() => {
    if (isBlank) field()?.focus()
  }, [isBlank])
  useEffect(() => {
    // Arrow down moves from the search field to the results.
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.key !== 'ArrowDown' || event.target !== field()) return
      event.preventDefault()
      focusList()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [focusList])

  const latest = useRef({ hits, selection, openHit })
  latest.current = { hits, selection, openHit }
  const lastPointer = useRef('mouse')
  const handlers = useMemo(
    (): Handlers => ({
      press(hit, event) {
        const { hits, selection, openHit } = latest.current
        const { pointerType = 'mouse' } = event.nativeEvent as PointerEvent
        lastPointer.current = pointerType
        focusList()
        if (pointerType === 'touch')
          return selection.ids.size > 0 ? select(toggle(selection, hit.id)) : openHit(hit)
        select(press(() => hits.map(({ id }) => id), selection, hit.id, event))
      },
      open(hit) {
        if (lastPointer.current !== 'touch') latest.current.openHit(hit)
      },
      mark(hit) {
        focusList()
        select(toggle(latest.current.selection, hit.id))
      },
      menu(hit, at) {
        const { hits, selection } = latest.current
        const isIn = selection.ids.has(hit.id)
        if (!isIn) select(only(hit.id))
        setMenu({ at, of: isIn ? hits.filter(({ id }) => selection.ids.has(id)) : [hit] })
      },
    }),
    [focusList],
  )

  const onCommandKey = useKeys(commands)
  const onKey = (event: KeyboardEvent) =>
    selected.length > 0 && !isOfFolder(event) && onCommandKey(event)

  const setQuery = (next: string) =>
    change({ q: next.trim() ? next : undefined, open: undefined }, { push: true })
  const isStale = results !== undefined && results.query !== q
  const [hint] = results?.hints ?? []
  const heightOf = useCallback(
    (hit: Hit) => (hit.snippet ? ('three' as const) : ('found' as const)),
    [],
  )
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: handles keys that bubble up from the screen
    <div className="search-screen" onKeyDown={keysOfScreen(onKey)}>
      <div className="screen-head">
        <h1>{text('title')}</h1>
        {selected.length > 0 ? (
          <div className="toolbar" role="toolbar" aria-label={text('actions')}>
            <SelectionActions
              commands={commands}
              said={drive?.mixed && text('selectedMixed', { count: selected.length })}
              menu={open => (
                <HitsMenu
                  {...open}
                  commands={commands}
                  openFolder={openFolder}
                  of={selected}
                  label={text('actions')}
                />
              )}
            />
          </div>
        ) : (
          <div className="toolbar">
            <span className="count" role="status">
              {results && !isStale && !isLoading
                ? text(results.cursor ? 'countMore' : 'count', { count: hits.length })
                : ''}
            </span>
            <Menu
              label={text('order')}
              button={{ look: 'icon' }}
              entries={orders.map(one => ({
                id: one,
                label: text(one),
                isChosen: one === order,
                run: () => change({ order: one === 'relevance' ? undefined : one }),
              }))}
            >
              <ArrowDownUp />
            </Menu>
            <Button look="icon" aria-label={text('help')} onPress={() => setHelp(true)}>
              <FileQuestion />
            </Button>
          </div>
        )}
      </div>
      <Filters query={q} onQuery={setQuery} hits={hits} me={me?.id} />
      {!isStale && hint && (
        <p className="search-note" role="status">
          <bdi>{hint.term}</bdi> {text('hint')}{' '}
          <Button look="ghost" onPress={() => setHelp(true)}>
            {text('help')}
          </Button>
        </p>
      )}
      {results && !isStale && !results.isComplete && (
        <p className="search-note" role="status">
          {text('incomplete')}{' '}
          <Button look="ghost" onPress={refresh}>
            {text('again')}
          </Button>
        </p>
      )}
      <div className={`files-list search-results${isStale ? ' stale' : ''}`} aria-busy={isLoading}>
        {error ? (
          <ErrorState error={error} retry={refresh} />
        ) : isBlank ? (
          <EmptyState icon={Magnifier} title={text('start')} hint={text('startHint')}>
            <Button onPress={() => setHelp(true)}>{text('help')}</Button>
          </EmptyState>
        ) : !results ? (
          <Skeleton rows={8} />
        ) : hits.length === 0 && !isStale && !isLoading ? (
          <EmptyState
            icon={SearchX}
            title={text('none', { query: q.trim() })}
            hint={text('noneHint')}
          />
        ) : (
          <Listing
            ref={listing}
            label={text('results')}
            entries={hits}
            hasMore={!isStale && results.cursor !== null}
            more={more}
            lines="found"
            linesOf={heightOf}
            selection={selection}
            select={select}
            cell={(hit, cell) => <Row key={hit.id} {...cell} hit={hit} handlers={handlers} />}
            open={openHit}
            onKey={onKey}
          />
        )}
      </div>
      {menu && (
        <AtPoint
          at={menu.at}
          opened={open => (
            <HitsMenu
              {...open}
              commands={commands}
              openFolder={openFolder}
              of={menu.of}
              label={text('actions')}
            />
          )}
          onClose={() => {
            setMenu(null)
            focusList()
          }}
        />
      )}
      <Suspense>
        {hasHelp && <Help onTry={setQuery} onClose={() => setHelp(false)} />}
        <Dialogs
          acting={acting}
          refresh={refresh}
          hits={hits}
          shown={shown}
          onShow={id => change({ open: id })}
        />
      </Suspense>
    </div>
  )
}
