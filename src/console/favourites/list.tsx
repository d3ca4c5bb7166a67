import './favourites.css'
import { Link } from '@tanstack/react-router'
import { useRef } from 'react'
import { useQuery } from 'urql'
import { hrefOf } from '../drive/place.ts'
import { mutate } from '../graphql/run.ts'
import { EntryIcon } from '../parts/entry-icon.tsx'
import { toastError } from '../parts/toasts.tsx'
import { addressOf } from './address.ts'
import { FAVOURITES, type Favourite, MOVE_FAVOURITE } from './documents.ts'
import { text } from './text.ts'

const addressOfShare = (share: NonNullable<Favourite['share']>) => ({
  to:
    share.entryKind === 'FOLDER'
      ? hrefOf({ workspace: null, share: share.id, path: '' })
      : '/shared',
  search: {},
})

/** The person's favourites, in their own order. Dragging or Alt + arrow keys reorders them. */
export function Favourites() {
  const [{ data }] = useQuery({ query: FAVOURITES, requestPolicy: 'cache-and-network' })
  const dragged = useRef<string | null>(null)
  const favourites = data?.me.favourites ?? []
  if (favourites.length === 0) return null
  const move = (favourite: string, next: string | undefined) =>
    void mutate(MOVE_FAVOURITE, { input: { favourite, ...(next && { next }) } }).catch(toastError)
  return (
    <div className="favourites">
      <h2 id="favourites">{text('title')}</h2>
      <ul aria-labelledby="favourites" title={text('hint')}>
        {favourites.map((favourite, at) => {
          const { id, name, entry, share } = favourite
          const address = entry ? addressOf(entry) : share ? addressOfShare(share) : undefined
          return (
            address && (
              <li
                key={id}
                draggable
                onDragStart={event => {
                  dragged.current = id
                  event.dataTransfer.effectAllowed = 'move'
                }}
                onDragOver={event => {
                  if (dragged.current !== null) event.preventDefault()
                }}
                onDragEnd={() => {
                  dragged.current = null
                }}
                onDrop={event => {
                  event.preventDefault()
                  if (dragged.current !== null && dragged.current !== id) move(dragged.current, id)
                }}
              >
                <Link
                  to={address.to}
                  search={address.search as never}
                  className="favourite"
                  activeProps={{ className: '' }}
                  draggable={false}
                  aria-keyshortcuts="Alt+ArrowUp Alt+ArrowDown"
                  onKeyDown={event => {
                    if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown'))
                      return
                    event.preventDefault()
                    event.stopPropagation()
                    if (event.key === 'ArrowUp' && at > 0) move(id, favourites[at - 1]?.id)
                    else if (event.key === 'ArrowDown' && at < favourites.length - 1)
                      move(id, favourites[at + 2]?.id)
                  }}
                >
                  <EntryIcon
                    contentType={entry?.__typename === 'File' ? entry.contentType : null}
                  />
                  <span className="favourite-name" dir="auto">
                    {name}
                  </span>
                </Link>
              </li>
            )
          )
        })}
      </ul>
    </div>
  )
}
