import { Link } from '@tanstack/react-router'
import { hrefOf, type Place } from '../../drive/place.ts'
import { ChevronRight } from '../../parts/icons.ts'
import type { DragAndDrop } from './drag.ts'
import { useFilesSearch } from './search.ts'
import { text } from './text.ts'

/** The path from the root to this folder. Entries can be dropped on each folder. */
export function Breadcrumbs({
  place,
  title,
  dnd,
}: {
  place: Place
  title: string | null
  dnd: DragAndDrop
}) {
  const [{ details }] = useFilesSearch()
  const names = place.path ? place.path.split('/') : []
  const crumbs = [
    { name: title ?? (place.workspace === null ? text('root') : place.workspace), path: '' },
    ...names.map((name, at) => ({ name, path: names.slice(0, at + 1).join('/') })),
  ]
  return (
    <nav className="breadcrumbs" aria-label={text('path')}>
      <ol>
        {crumbs.map(({ name, path }, at) =>
          at === crumbs.length - 1 ? (
            <li key={path} className="here">
              <h1 dir="auto" title={name}>
                {name}
              </h1>
            </li>
          ) : (
            <li key={path}>
              <Link
                to={hrefOf({ ...place, path })}
                search={{ details } as never}
                className="crumb"
                dir="auto"
                title={name}
                onDragOver={event => dnd.over(path, event)}
                onDragEnter={event => dnd.over(path, event)}
                onDragLeave={event => event.currentTarget.classList.remove('target')}
                onDrop={event => dnd.drop(path, event)}
              >
                {name}
              </Link>
              <ChevronRight aria-hidden className="crumb-sign" />
            </li>
          ),
        )}
      </ol>
    </nav>
  )
}
