import './listing.css'
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type CSSProperties,
  Fragment,
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
} from 'react'
import type { Point } from '../parts/menu.tsx'
import { all, extend, nothing, only, point, type Selection, toggle } from './selection.ts'
import { text } from './text.ts'
import { useTypeAhead } from './type-ahead.ts'
import { useWidth } from './use-width.ts'

/**
 * Row heights by number of lines. On narrow screens every row has at least two lines. Search
 * results then show the folder, too.
 */
const ROW = { one: 44, two: 60, found: 60, three: 80 }
const NARROW_ROW = { one: 60, two: 60, found: 76, three: 108 }
const NARROW = '(max-width: 52rem)'
/** Sizes of tiles. */
const TILES = {
  small: { width: 128, height: 136 },
  medium: { width: 168, height: 176 },
  large: { width: 264, height: 272 },
}
/** Loads the next page when the view is this many rows from the end. */
const AHEAD = 100

const heights = () => (matchMedia(NARROW).matches ? NARROW_ROW : ROW)

export interface ListingHandle {
  focus(): void
}

/** Position for the menu of the row at the cursor. */
export function pointOf({ cursor }: Selection, fallback: Element): Point {
  const row = document.getElementById(`entry-${cursor ?? ''}`) ?? fallback
  const { left, top, height } = row.getBoundingClientRect()
  return { x: left + 64, y: Math.min(top + height, top + 44) }
}

/** Position and state of a list item. */
export interface Cell {
  index: number
  isSelected: boolean
  isCursor: boolean
}

type Lines = keyof typeof ROW

interface ListingProps<Item> {
  ref?: Ref<ListingHandle>
  label: string
  entries: readonly Item[]
  hasMore: boolean
  more: () => void
  view?: 'list' | 'grid' | undefined
  tiles?: keyof typeof TILES | undefined
  /** Number of lines per row. */
  lines?: Lines
  /**
   * Number of lines of each row, if rows differ. Must be the same function while the list is shown.
   */
  linesOf?: (item: Item) => Lines
  selection: Selection
  select: (next: Selection) => void
  /** Renders an ARIA row with the id `entry-<item id>`. */
  cell: (item: Item, cell: Cell) => ReactNode
  /** Called on Enter. */
  open: (item: Item) => void
  header?: ReactNode
  /** Handles keys of the screen. Returns true if it used the key. */
  onKey: (event: KeyboardEvent) => boolean
}

/**
 * A virtual list as an ARIA grid: only visible rows are in the DOM, so 100,000 rows cost no more
 * than 100. The grid has the focus, and `aria-activedescendant` points to the cursor.
 */
export function Listing<Item extends { id: string; name: string }>(props: ListingProps<Item>) {
  const { entries, hasMore, more, view = 'list', lines = 'one', linesOf, selection, select } = props
  const tile = TILES[props.tiles ?? 'medium']
  const scroller = useRef<HTMLDivElement>(null)
  const grid = useRef<HTMLDivElement>(null)
  const [hasFocus, setFocus] = useState(false)
  const width = useWidth(scroller)
  const rowHeight = view === 'grid' ? tile.height : heights()[lines]
  const columns = view === 'grid' ? Math.max(2, Math.floor((width - 24) / tile.width)) : 1
  const heightOf = (index: number) => {
    const item = linesOf && entries[index]
    return item ? heights()[linesOf(item)] : rowHeight
  }
  const count = Math.ceil(entries.length / columns)
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: index => heightOf(index),
    overscan: 12,
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: measures again when heights change
  useEffect(() => virtual.measure(), [virtual, rowHeight, columns, linesOf && entries])
  useEffect(() => {
    if (hasMore && last >= count - AHEAD) more()
  }, [hasMore, last, count, more])
  useImperativeHandle(props.ref, () => ({
    focus: () => grid.current?.focus({ preventScroll: true }),
  }))

  const order = () => entries.map(({ id }) => id)
  const indexOf = (id: string | null) =>
    id === null ? -1 : entries.findIndex(entry => entry.id === id)
  const show = (index: number) => virtual.scrollToIndex(Math.floor(index / columns))

  /**
   * Moves the cursor: Ctrl moves it alone, Shift extends the range, otherwise the selection
   * follows.
   */
  function go(
    index: number,
    { shiftKey, ctrlKey, metaKey }: { shiftKey: boolean; ctrlKey: boolean; metaKey: boolean },
  ) {
    const entry = entries[Math.max(0, Math.min(entries.length - 1, index))]
    if (!entry) return
    if (shiftKey) select(extend(order(), selection, entry.id))
    else if (ctrlKey || metaKey) select(point(selection, entry.id))
    else select(only(entry.id))
    show(indexOf(entry.id))
  }

  const typeAhead = useTypeAhead((start, again) => {
    const from = indexOf(selection.cursor) + (again ? 1 : 0)
    const turned = [...entries.slice(Math.max(0, from)), ...entries.slice(0, Math.max(0, from))]
    const found = turned.find(({ name }) => name.toLocaleLowerCase().startsWith(start))
    if (found) go(indexOf(found.id), { shiftKey: false, ctrlKey: false, metaKey: false })
  })

  function onKeyDown(event: KeyboardEvent) {
    if (event.target !== grid.current) return
    const at = indexOf(selection.cursor)
    const entry = entries[at]
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 400) / rowHeight) - 1)
    const isRtl = getComputedStyle(event.currentTarget).direction === 'rtl'
    const side = view === 'grid' ? (isRtl ? -1 : 1) : 0
    const steps: Record<string, number> = {
      ArrowDown: at < 0 ? 0 : at + columns,
      ArrowUp: at < 0 ? 0 : at - columns < 0 ? at : at - columns,
      ...(side ? { ArrowRight: at + side, ArrowLeft: at - side } : {}),
      PageDown: at + page * columns,
      PageUp: at - page * columns,
      Home: 0,
      End: entries.length - 1,
    }
    const step = steps[event.key]
    const isCommand = event.ctrlKey || event.metaKey
    if (event.key.length > 1 && event.key !== 'Shift') typeAhead.reset()
    if (step !== undefined && !event.altKey) go(step, event)
    else if (event.key === ' ' && entry && !typeAhead.isTyping())
      select(toggle(selection, entry.id))
    else if (isCommand && event.key.toLowerCase() === 'a') select(all(order(), selection))
    else if (event.key === 'Escape' && selection.ids.size > 0)
      select({ ...nothing, cursor: selection.cursor })
    else if (event.key === 'Enter' && entry && !isCommand && !event.altKey) props.open(entry)
    else if (!props.onKey(event) && !typeAhead.take(event)) return
    event.preventDefault()
    event.stopPropagation()
  }

  const cell = (entry: Item, index: number) => (
    <Fragment key={entry.id}>
      {props.cell(entry, {
        index,
        isSelected: selection.ids.has(entry.id),
        isCursor: hasFocus && selection.cursor === entry.id,
      })}
    </Fragment>
  )
  return (
    <div className="listing" ref={scroller}>
      <div
        ref={grid}
        role="grid"
        tabIndex={0}
        className={`entries ${view}`}
        aria-label={props.label}
        aria-multiselectable
        aria-rowcount={hasMore ? -1 : entries.length + 1}
        aria-activedescendant={
          hasFocus && selection.cursor ? `entry-${selection.cursor}` : undefined
        }
        onKeyDown={onKeyDown}
        onFocus={() => setFocus(true)}
        onBlur={() => setFocus(false)}
      >
        {props.header}
        <div
          role="rowgroup"
          className="entries-body"
          style={{ height: virtual.getTotalSize(), '--row': `${rowHeight}px` } as CSSProperties}
        >
          {items.map(({ index, start, size, key }) => {
            const line = entries.slice(index * columns, (index + 1) * columns)
            const style = {
              transform: `translateY(${start}px)`,
              ...(linesOf && { '--row': `${size}px` }),
            }
            return view === 'list' ? (
              <div key={key} role="presentation" className="line" style={style}>
                {line.map(entry => cell(entry, index))}
              </div>
            ) : (
              <div
                key={key}
                role="presentation"
                className="line tiles"
                style={{ ...style, gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}
              >
                {line.map((entry, column) => cell(entry, index * columns + column))}
              </div>
            )
          })}
        </div>
        {hasMore && <p className="more">{text('loadingMore')}</p>}
      </div>
    </div>
  )
}
