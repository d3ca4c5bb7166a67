import { type MouseEvent, memo } from 'react'
import { parentOf, trim } from '../../drive/place.ts'
import { formatBytes, formatExact, formatMoment } from '../../i18n/format.ts'
import { formatRelative } from '../../i18n/times.ts'
import { Mark, More } from '../../listing/cells.tsx'
import type { Cell } from '../../listing/listing.tsx'
import { EntryIcon } from '../../parts/entry-icon.tsx'
import type { Point } from '../../parts/menu.tsx'
import { personName } from '../../parts/person-name.ts'
import type { TrashItem } from './documents.ts'
import { text } from './text.ts'

/**
 * Event handlers of the rows. The object must not change while the screen is shown, so that rows
 * are not rendered again.
 */
export interface Handlers {
  press: (item: TrashItem, event: MouseEvent) => void
  mark: (item: TrashItem) => void
  menu: (item: TrashItem, at: Point) => void
}

const columns = [
  ['name', 'name-cell'],
  ['deletedAt', 'updated'],
  ['keptUntil', 'kept'],
  ['size', 'size'],
] as const

/** The column heads. */
export const Heads = () => (
  <div role="row" className="heads" aria-rowindex={1}>
    {columns.map(([message, className]) => (
      <div key={message} role="columnheader" className={className}>
        {text(message)}
      </div>
    ))}
    <div role="columnheader" className="row-actions">
      <span className="sr">{text('actions')}</span>
    </div>
  </div>
)

interface RowProps extends Cell {
  item: TrashItem
  /** Display name of the root of the drive. */
  root: string
  handlers: Handlers
}

/** What becomes of the links to an item, and of its shares with people, if it is restored now. */
function sharesText({ endedShares: count, sharesEndAt }: TrashItem): string | null {
  if (count === 0 || sharesEndAt === null) return null
  return Date.parse(sharesEndAt) > Date.now()
    ? text('sharesReturn', { count, time: formatMoment(sharesEndAt) })
    : text('sharesEnded', { count })
}

/** A trash item as a row. */
export const Row = memo(function Row({
  item,
  root,
  index,
  isSelected,
  isCursor,
  handlers,
}: RowProps) {
  const { id, name, path, contentType, size, deletedAt, deletedBy, expiresAt } = item
  const where = parentOf(trim(path)) || root
  const shares = sharesText(item)
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the focus and handles keys
    <div
      id={`entry-${id}`}
      role="row"
      aria-selected={isSelected}
      aria-rowindex={index + 2}
      className={`row${isSelected ? ' selected' : ''}${isCursor ? ' cursor' : ''}`}
      onClick={event => handlers.press(item, event)}
      onContextMenu={event => {
        event.preventDefault()
        handlers.menu(item, { x: event.clientX, y: event.clientY })
      }}
    >
      <div role="gridcell" className="name-cell">
        <Mark onMark={() => handlers.mark(item)} />
        <EntryIcon contentType={contentType} />
        <span className="name-lines">
          <span className="name" dir="auto" title={name}>
            {name}
          </span>
          <span className="where" dir="auto" title={where}>
            {where}
            {shares && ` · ${shares}`}
          </span>
          <span className="narrow-facts" aria-hidden>
            <bdi>{where}</bdi> · {shares ?? `${formatMoment(deletedAt)} · ${formatBytes(size)}`}
          </span>
        </span>
      </div>
      <div role="gridcell" className="updated" title={formatExact(deletedAt)}>
        {formatMoment(deletedAt)}
        {deletedBy && <bdi className="by">{personName(deletedBy)}</bdi>}
      </div>
      <div role="gridcell" className="kept" title={formatExact(expiresAt)}>
        {formatRelative(expiresAt)}
      </div>
      <div role="gridcell" className="size">
        {formatBytes(size)}
      </div>
      <div role="gridcell" className="row-actions">
        <More label={text('actionsOf', { name })} onMenu={at => handlers.menu(item, at)} />
      </div>
    </div>
  )
})
