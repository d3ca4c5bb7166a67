import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type KeyboardEvent,
  type Ref,
  useCallback,
  useEffect,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
} from 'react'
import { formatNumber } from '../../i18n/format.ts'
import { useWidth } from '../../listing/use-width.ts'
import { Button } from '../../parts/button.tsx'
import { Check } from '../../parts/icons.ts'
import { type Layout, layOut, lineAt, lineOf, moved, type Section } from './layout.ts'
import { monthName } from './month-name.ts'
import { Scrubber } from './scrubber.tsx'
import { text } from './text.ts'
import { Tile, type TileHandlers } from './tile.tsx'
import type { Gallery } from './use-gallery.ts'

const HEAD = 56
const GAP = 4
const NARROW = '(max-width: 52rem)'
/** Minimum width of a tile. Phones fit three in a row. */
const TILE = { wide: 176, narrow: 108 }
const SIDE = { wide: 24, narrow: 8 }
const SCRUBBER = 56

export interface GridHandle {
  focus(): void
  layout(): Layout
  scrollTo(picture: number): void
}

interface GridProps {
  ref: Ref<GridHandle>
  gallery: Gallery
  selected: ReadonlySet<string>
  cut: ReadonlySet<string>
  /** Index of the cursor among all pictures; -1 for none. */
  cursor: number
  handlers: TileHandlers
  onSelectMonth: (section: Section) => void
  /** Moves the cursor. Shift extends the range, and Ctrl moves the cursor alone. */
  onGo: (picture: number, keys: { shiftKey: boolean; isCommand: boolean }) => void
  /** Handles other keys. Returns true if it used the key. */
  onKey: (event: KeyboardEvent) => boolean
}

/**
 * A virtual ARIA grid of pictures by month. Only visible pictures are in the DOM, so 200,000 cost
 * no more than 100.
 */
export function Grid({ ref, gallery, selected, cut, cursor, handlers, ...on }: GridProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const grid = useRef<HTMLDivElement>(null)
  const [hasFocus, setFocus] = useState(false)
  const width = useWidth(scroller)
  const isNarrow = matchMedia(NARROW).matches
  const [tile, side] = isNarrow ? [TILE.narrow, SIDE.narrow] : [TILE.wide, SIDE.wide]
  const inner = Math.max(0, width - 2 * side - (isNarrow ? 0 : SCRUBBER))
  const columns = Math.max(3, Math.floor((inner + GAP) / (tile + GAP)))
  const height = Math.max(40, Math.floor((inner + GAP) / columns))
  const { months, show } = gallery
  const layout = useMemo(() => layOut(months, columns), [months, columns])
  const sizeOf = useCallback(
    (index: number) => (lineAt(layout, index)?.count === 0 ? HEAD : height),
    [layout, height],
  )
  const virtual = useVirtualizer({
    count: layout.lines,
    getScrollElement: () => scroller.current,
    estimateSize: sizeOf,
    overscan: 4,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: measures again when heights change
  useEffect(() => virtual.measure(), [virtual, layout, height])
  const items = virtual.getVirtualItems()
  const total = virtual.getTotalSize()
  const tops = useMemo(
    () => layout.sections.map(({ line }, names) => names * HEAD + (line - names) * height),
    [layout, height],
  )
  const firstLine = lineAt(layout, items[0]?.index ?? 0)
  const lastLine = lineAt(layout, items.at(-1)?.index ?? 0)
  const [from, to] = [
    firstLine?.first ?? 0,
    (lastLine?.first ?? 0) + Math.max(0, (lastLine?.count ?? 0) - 1),
  ]
  useEffect(() => show(layout, from, to), [show, layout, from, to])

  const offsets = useMemo(() => tops.map(top => top / Math.max(1, total)), [tops, total])
  const scrolled = virtual.scrollOffset ?? 0
  const current = Math.max(
    0,
    tops.findLastIndex(top => top <= scrolled + HEAD),
  )
  const goToMonth = (index: number) => {
    const section = layout.sections[index]
    if (section) virtual.scrollToIndex(section.line, { align: 'start' })
  }
  const scrollTo = (picture: number) => virtual.scrollToIndex(lineOf(layout, picture))
  useImperativeHandle(ref, () => ({
    focus: () => grid.current?.focus({ preventScroll: true }),
    layout: () => layout,
    scrollTo,
  }))

  function onKeyDown(event: KeyboardEvent) {
    if (event.target !== grid.current) return
    const isRtl = getComputedStyle(event.currentTarget).direction === 'rtl'
    const turned: Record<string, string> = { ArrowLeft: 'ArrowRight', ArrowRight: 'ArrowLeft' }
    const key = (isRtl && turned[event.key]) || event.key
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 400) / height) - 1)
    const to = event.altKey ? undefined : moved(layout, cursor, key, page)
    if (to !== undefined) {
      scrollTo(to)
      on.onGo(to, { shiftKey: event.shiftKey, isCommand: event.ctrlKey || event.metaKey })
    } else if (!on.onKey(event)) return
    event.preventDefault()
    event.stopPropagation()
  }

  const atCursor = cursor < 0 ? undefined : gallery.at(layout, cursor)
  return (
    <div className="gallery-main">
      <div className="gallery-scroll" ref={scroller}>
        <div
          ref={grid}
          role="grid"
          tabIndex={0}
          className="gallery-grid entries"
          aria-label={text('pictures')}
          aria-multiselectable
          aria-rowcount={layout.lines}
          aria-colcount={columns}
          aria-activedescendant={hasFocus && atCursor ? `picture-${atCursor.id}` : undefined}
          onKeyDown={onKeyDown}
          onFocus={() => setFocus(true)}
          onBlur={() => setFocus(false)}
          style={{ height: total }}
        >
          {items.map(({ index, start, key, size }) => {
            const line = lineAt(layout, index)
            if (!line) return null
            const style = { transform: `translateY(${start}px)`, height: size, paddingInline: side }
            if (line.count === 0)
              return (
                <div
                  key={key}
                  role="row"
                  aria-rowindex={index + 1}
                  className="gallery-head"
                  style={style}
                >
                  <div role="rowheader" aria-colspan={columns}>
                    <h2>{monthName(line.section.month)}</h2>
                    <span className="soft">
                      {text('count', {
                        count: line.section.count,
                        shown: formatNumber(line.section.count),
                      })}
                    </span>
                    <Button
                      look="icon"
                      aria-label={text('selectMonth', { month: monthName(line.section.month) })}
                      onPress={() => on.onSelectMonth(line.section)}
                    >
                      <Check />
                    </Button>
                  </div>
                </div>
              )
            return (
              <div
                key={key}
                role="row"
                aria-rowindex={index + 1}
                className="gallery-line"
                style={{ ...style, gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}
              >
                {Array.from({ length: line.count }, (_, column) => {
                  const at = line.first + column
                  const picture = gallery.at(layout, at)
                  return (
                    <Tile
                      key={picture?.id ?? at}
                      picture={picture}
                      index={at}
                      column={column}
                      isSelected={picture !== undefined && selected.has(picture.id)}
                      isCursor={hasFocus && cursor === at}
                      isCut={picture !== undefined && cut.has(picture.id)}
                      handlers={handlers}
                    />
                  )
                })}
              </div>
            )
          })}
        </div>
      </div>
      {layout.sections.length > 1 && (
        <Scrubber
          sections={layout.sections}
          offsets={offsets}
          current={current}
          height={scroller.current?.clientHeight ?? 0}
          onGo={goToMonth}
        />
      )}
    </div>
  )
}
