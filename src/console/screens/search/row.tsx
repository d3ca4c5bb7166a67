import { type MouseEvent, memo } from 'react'
import { isDrawn } from '../../../formats/picture.ts'
import { formatBytes, formatExact, formatMoment } from '../../i18n/format.ts'
import { Mark, More } from '../../listing/cells.tsx'
import type { Cell } from '../../listing/listing.tsx'
import { EntryIcon } from '../../parts/entry-icon.tsx'
import { UsersRound } from '../../parts/icons.ts'
import type { Point } from '../../parts/menu.tsx'
import { personName } from '../../parts/person-name.ts'
import { type Hit, namesAbove, typeOf } from '../../search/hit.ts'
import { Chips } from '../../tags/chips.tsx'
import { Thumbnail } from '../files/on-demand/thumbnail.tsx'
import { Marked } from './snippet.tsx'
import { text } from './text.ts'

/**
 * Event handlers of the rows. The object must not change while the screen is shown, so that rows
 * are not rendered again.
 */
export interface Handlers {
  press: (hit: Hit, event: MouseEvent) => void
  open: (hit: Hit) => void
  mark: (hit: Hit) => void
  menu: (hit: Hit, at: Point) => void
}

interface RowProps extends Cell {
  hit: Hit
  handlers: Handlers
}

/** Whether the row can show a thumbnail. */
const hasPicture = (hit: Hit): boolean =>
  hit.share === null && hit.__typename === 'File' && hit.size > 0 && isDrawn(hit.contentType)

/** A search result as a row. */
export const Row = memo(function Row({ hit, index, isSelected, isCursor, handlers }: RowProps) {
  const { id, name, size, updatedAt, share, snippet, matchedIn } = hit
  const where = namesAbove(hit, text('myFiles'))
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the focus and handles keys
    <div
      id={`entry-${id}`}
      role="row"
      aria-selected={isSelected}
      aria-rowindex={index + 2}
      className={`row hit${isSelected ? ' selected' : ''}${isCursor ? ' cursor' : ''}`}
      tabIndex={-1}
      onClick={event => handlers.press(hit, event)}
      onDoubleClick={() => handlers.open(hit)}
      onContextMenu={event => {
        event.preventDefault()
        handlers.menu(hit, { x: event.clientX, y: event.clientY })
      }}
    >
      <div role="gridcell" className="name-cell">
        <Mark onMark={() => handlers.mark(hit)} />
        {hasPicture(hit) && hit.__typename === 'File' ? (
          <Thumbnail key={updatedAt} file={hit} size="row" />
        ) : (
          <EntryIcon contentType={typeOf(hit)} />
        )}
        <span className="name-lines">
          <span className="name-line">
            <span className="name" dir="auto" title={name}>
              {name}
            </span>
            <Chips tags={hit.tags} />
          </span>
          <span className="where">
            {share && (
              <>
                <UsersRound aria-hidden />
                <span dir="auto">{text('from', { who: personName(share.sharedBy) })}</span>
                {where.length > 0 && ' · '}
              </>
            )}
            <span dir="auto">{where.join(' / ')}</span>
          </span>
          {snippet && (
            <span className="snippet" dir="auto">
              <span className="snippet-kind">
                {text(matchedIn.includes('NOTE') ? 'inNote' : 'inText')}
              </span>{' '}
              <Marked {...snippet} />
            </span>
          )}
          <span className="narrow-facts" aria-hidden>
            {formatBytes(size)} · {formatMoment(updatedAt)}
          </span>
        </span>
      </div>
      <div role="gridcell" className="updated" title={formatExact(updatedAt)}>
        {formatMoment(updatedAt)}
      </div>
      <div role="gridcell" className="size">
        {formatBytes(size)}
      </div>
      <div role="gridcell" className="row-actions">
        <More label={text('actionsOf', { name })} onMenu={at => handlers.menu(hit, at)} />
      </div>
    </div>
  )
})
