import { type DragEvent, type MouseEvent, memo } from 'react'
import { isDrawn } from '../../../formats/picture.ts'
import { formatBytes, formatExact, formatMoment } from '../../i18n/format.ts'
import { Mark, More } from '../../listing/cells.tsx'
import type { Cell } from '../../listing/listing.tsx'
import { EntryIcon } from '../../parts/entry-icon.tsx'
import { Link2, Star } from '../../parts/icons.ts'
import type { Point } from '../../parts/menu.tsx'
import { optional } from '../../parts/optional.tsx'
import { Chips } from '../../tags/chips.tsx'
import type { Entry, FileEntry } from './documents.ts'
import { NameField } from './name-field.tsx'
import { text } from './text.ts'
import type { Draft } from './use-rename.ts'

/** Whether the list can show a preview of the file. */
const hasThumbnail = (entry: Entry): entry is FileEntry =>
  entry.__typename === 'File' && entry.size > 0 && isDrawn(entry.contentType)

/** Whether an entry of a share comes with a thumbnail URL. */
const isPictured = (entry: Entry): entry is FileEntry =>
  entry.__typename === 'File' && 'thumbnail' in entry

/**
 * Event handlers of the rows. The object must not change while the screen is shown, so that rows
 * are not rendered again.
 */
export interface Handlers {
  press: (entry: Entry, event: MouseEvent) => void
  open: (entry: Entry) => void
  menu: (entry: Entry, at: Point) => void
  mark: (entry: Entry) => void
  dragStart: (entry: Entry, event: DragEvent) => void
  /** Folders as drop targets. */
  dragOver: (entry: Entry, event: DragEvent) => void
  drop: (entry: Entry, event: DragEvent) => void
  /** Updates the name that the person is typing. */
  type: (typed: string) => void
  /** Saves the typed name. */
  rename: (entry: Entry) => void
  /** Cancels renaming. */
  keepName: () => void
  /** Whether lists query for thumbnails. Shares include the URLs. */
  hasThumbnails: boolean
}

interface CellProps extends Cell {
  entry: Entry
  /** The new name while the entry is being renamed. */
  draft: Draft | null
  isCut: boolean
  handlers: Handlers
}

const typeOf = (entry: Entry) => (entry.__typename === 'File' ? entry.contentType : null)

const PlainIcon = ({ file, size = 'tile' }: { file: Entry; size?: 'row' | 'tile' }) => (
  <EntryIcon contentType={typeOf(file)} size={size} />
)
/** The icon remains if this part cannot be loaded. */
const Thumbnail = optional(
  () => import('./on-demand/thumbnail.tsx').then(({ Thumbnail }) => Thumbnail),
  PlainIcon,
)

function frameOf(
  { entry, index, isSelected, isCursor, draft, isCut, handlers }: CellProps,
  look: string,
) {
  const isFolder = entry.__typename === 'Folder'
  return {
    id: `entry-${entry.id}`,
    role: 'row',
    'aria-selected': isSelected,
    'aria-rowindex': index + 2,
    className: `${look}${isSelected ? ' selected' : ''}${isCursor ? ' cursor' : ''}${isCut ? ' cut' : ''}`,
    draggable: draft === null,
    onClick: (event: MouseEvent) => handlers.press(entry, event),
    onDoubleClick: () => handlers.open(entry),
    onContextMenu: (event: MouseEvent) => {
      event.preventDefault()
      handlers.menu(entry, { x: event.clientX, y: event.clientY })
    },
    onDragStart: (event: DragEvent) => handlers.dragStart(entry, event),
    ...(isFolder
      ? {
          'data-folder': true,
          onDragOver: (event: DragEvent) => handlers.dragOver(entry, event),
          onDragEnter: (event: DragEvent) => handlers.dragOver(entry, event),
          onDragLeave: (event: DragEvent) => event.currentTarget.classList.remove('target'),
          onDrop: (event: DragEvent) => handlers.drop(entry, event),
        }
      : {}),
  }
}

const Name = ({ entry, draft, handlers }: CellProps) =>
  draft ? (
    <NameField
      draft={draft}
      onType={handlers.type}
      onSave={() => handlers.rename(entry)}
      onCancel={handlers.keepName}
    />
  ) : (
    <span className="name" dir="auto" title={entry.name}>
      {entry.name}
    </span>
  )

const Marks = ({ entry }: { entry: Entry }) => (
  <>
    {entry.isFavourite && (
      <>
        <Star aria-hidden className="star" />
        <span className="sr">{text('favourite')}</span>
      </>
    )}
    <Shared entry={entry} />
    <Chips tags={entry.tags} />
  </>
)

const Shared = ({ entry }: { entry: Entry }) =>
  entry.shareCount ? (
    <span className="shared" title={text('shares', { count: entry.shareCount })}>
      <Link2 aria-hidden />
      <span className="sr">{text('shares', { count: entry.shareCount })}</span>
    </span>
  ) : null

const Look = ({ entry, handlers, size }: CellProps & { size: 'row' | 'tile' }) =>
  (handlers.hasThumbnails && hasThumbnail(entry)) || isPictured(entry) ? (
    // Changed content needs a new thumbnail.
    <Thumbnail key={entry.updatedAt} file={entry} size={size} />
  ) : (
    <PlainIcon file={entry} size={size} />
  )

/** An entry as a row. */
export const Row = memo(function Row(props: CellProps) {
  const { entry, handlers } = props
  return (
    <div {...frameOf(props, 'row')}>
      <div role="gridcell" className="name-cell">
        <Mark onMark={() => handlers.mark(entry)} />
        <Look {...props} size="row" />
        <span className="name-lines">
          <span className="name-line">
            <Name {...props} />
            <Marks entry={entry} />
          </span>
          <span className="narrow-facts" aria-hidden>
            {formatBytes(entry.size)} · {formatMoment(entry.updatedAt)}
          </span>
        </span>
      </div>
      <div role="gridcell" className="updated" title={formatExact(entry.updatedAt)}>
        {formatMoment(entry.updatedAt)}
      </div>
      <div role="gridcell" className="size">
        {formatBytes(entry.size)}
      </div>
      <div role="gridcell" className="row-actions">
        <More
          label={text('actionsOf', { name: entry.name })}
          onMenu={at => handlers.menu(entry, at)}
        />
      </div>
    </div>
  )
})

/** An entry as a tile. */
export const Tile = memo(function Tile(props: CellProps) {
  const { entry, handlers } = props
  return (
    <div {...frameOf(props, 'tile-card')}>
      <div role="gridcell">
        <Mark onMark={() => handlers.mark(entry)} />
        <Look {...props} size="tile" />
        <span className="tile-name">
          <Name {...props} />
          <Marks entry={entry} />
        </span>
        <span className="tile-facts">{formatBytes(entry.size)}</span>
        <More
          label={text('actionsOf', { name: entry.name })}
          onMenu={at => handlers.menu(entry, at)}
        />
      </div>
    </div>
  )
})
