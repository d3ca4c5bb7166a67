import { type MouseEvent, memo, useState } from 'react'
import { Mark, More } from '../../listing/cells.tsx'
import { EntryIcon } from '../../parts/entry-icon.tsx'
import { Play, Star } from '../../parts/icons.ts'
import type { Point } from '../../parts/menu.tsx'
import { Placeholder, Thumbnail } from '../files/on-demand/thumbnail.tsx'
import type { Picture } from './documents.ts'
import { text } from './text.ts'

/**
 * Event handlers of the tiles. The object must not change while the screen is shown, so that tiles
 * are not rendered again.
 */
export interface TileHandlers {
  press: (index: number, event: MouseEvent) => void
  open: (index: number) => void
  mark: (index: number) => void
  menu: (index: number, at: Point) => void
}

interface TileProps {
  picture: Picture | undefined
  /** Index among all pictures. */
  index: number
  column: number
  isSelected: boolean
  isCursor: boolean
  isCut: boolean
  handlers: TileHandlers
}

const isFilm = ({ contentType }: Picture) => contentType.startsWith('video/')

const nameOf = (picture: Picture): string =>
  [picture.name, isFilm(picture) && text('film'), picture.isFavourite && text('favourite')]
    .filter(Boolean)
    .join(', ')

/** A picture of the gallery; empty until loaded. */
export const Tile = memo(function Tile({
  picture,
  index,
  column,
  isSelected,
  isCursor,
  isCut,
  handlers,
}: TileProps) {
  if (!picture) return <div role="gridcell" aria-colindex={column + 1} className="picture-tile" />
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the focus and handles keys
    <div
      id={`picture-${picture.id}`}
      role="gridcell"
      tabIndex={-1}
      aria-colindex={column + 1}
      aria-selected={isSelected}
      aria-label={nameOf(picture)}
      className={`picture-tile${isSelected ? ' selected' : ''}${isCursor ? ' cursor' : ''}${isCut ? ' cut' : ''}`}
      title={picture.name}
      onClick={event => handlers.press(index, event)}
      onDoubleClick={() => handlers.open(index)}
      onContextMenu={event => {
        event.preventDefault()
        handlers.menu(index, { x: event.clientX, y: event.clientY })
      }}
    >
      <Look key={picture.updatedAt} picture={picture} />
      <Mark onMark={() => handlers.mark(index)} />
      {isFilm(picture) && <Play aria-hidden className="film" />}
      {picture.isFavourite && <Star aria-hidden className="star" />}
      <More
        label={text('actionsOf', { name: picture.name })}
        onMenu={at => handlers.menu(index, at)}
      />
    </div>
  )
})

/** The thumbnail. The list includes its URL if it exists already. */
function Look({ picture }: { picture: Picture }) {
  const { preview } = picture
  const [isLoaded, setLoaded] = useState(false)
  const [hasFailed, setFailed] = useState(false)
  if (hasFailed || (isFilm(picture) && preview?.state !== 'MADE'))
    return <EntryIcon contentType={picture.contentType} size="tile" />
  if (preview?.state !== 'MADE' || !preview.small) return <Thumbnail file={picture} />
  return (
    <span className="thumbnail" aria-hidden>
      {!isLoaded && preview.placeholder && <Placeholder hash={preview.placeholder} />}
      <img
        src={preview.small}
        alt=""
        decoding="async"
        draggable={false}
        onLoad={() => setLoaded(true)}
        onError={() => setFailed(true)}
      />
    </span>
  )
}
