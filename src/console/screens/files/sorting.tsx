import { ArrowDown, ArrowUp } from '../../parts/icons.ts'
import type { FilesSearch } from './search.ts'
import { text } from './text.ts'
import type { Sort } from './view.ts'

interface SortingProps {
  search: FilesSearch
  setSearch: (change: FilesSearch) => void
}

/** Sorts by a column in its natural direction, or reverses the direction. */
export function sortBy(sort: Sort, { search, setSearch }: SortingProps): void {
  const isNow = (search.sort ?? 'name') === sort
  // Dates and sizes start with the newest or largest.
  const desc = isNow ? !search.desc : sort !== 'name'
  setSearch({ sort: sort === 'name' ? undefined : sort, desc: desc || undefined })
}

const columns = [
  ['name', 'name-cell'],
  ['updated', 'updated'],
  ['size', 'size'],
] as const

/** The sortable column heads. */
export function ColumnHeads(props: SortingProps) {
  const { search } = props
  return (
    <div role="row" className="heads" aria-rowindex={1}>
      {columns.map(([sort, className]) => {
        const isNow = (search.sort ?? 'name') === sort
        const Arrow = search.desc ? ArrowDown : ArrowUp
        const direction = search.desc ? 'descending' : 'ascending'
        return (
          <div
            key={sort}
            role="columnheader"
            className={className}
            aria-sort={isNow ? direction : 'none'}
          >
            <button type="button" onClick={() => sortBy(sort, props)}>
              {text(sort)}
              {isNow && <Arrow aria-hidden />}
            </button>
          </div>
        )
      })}
      <div role="columnheader" className="row-actions">
        <span className="sr">{text('actions')}</span>
      </div>
    </div>
  )
}
