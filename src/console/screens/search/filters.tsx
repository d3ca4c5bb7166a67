import { useMemo } from 'react'
import { useQuery } from 'urql'
import { hrefOf } from '../../drive/place.ts'
import { formatBytes } from '../../i18n/format.ts'
import { DRIVES } from '../../palette/find.ts'
import { readRecent } from '../../palette/recent.ts'
import { Button } from '../../parts/button.tsx'
import { ChevronDown, X } from '../../parts/icons.ts'
import { Menu, type MenuEntry } from '../../parts/menu.tsx'
import type { Hit } from '../../search/hit.ts'
import { valuesOf, withFilters } from '../../search/query.ts'
import { SEARCHED_TAGS } from './tags.ts'
import { text } from './text.ts'

interface FiltersProps {
  query: string
  onQuery: (query: string) => void
  hits: readonly Hit[]
  /** Id of the person. */
  me: string | undefined
}

const kinds = [
  ...(['folder', 'pdf', 'document', 'spreadsheet', 'presentation'] as const),
  ...(['image', 'video', 'audio', 'text', 'archive'] as const),
] as const

const MIB = 2 ** 20
const sizes = [
  ...([
    ['>1mb', MIB],
    ['>10mb', 10 * MIB],
    ['>100mb', 100 * MIB],
    ['>1gb', 1024 * MIB],
  ] as const),
  ...([
    ['<1mb', MIB],
    ['<100kb', 100 * 1024],
  ] as const),
] as const

const isoDay = (daysAgo: number) =>
  new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)

/** The filters of a search as chips. Each one reads and writes the query text. */
export function Filters({ query, onQuery, hits, me }: FiltersProps) {
  const [{ data }] = useQuery({ query: DRIVES })
  const workspaces = data?.me.workspaces?.nodes ?? []
  const [{ data: tagged }] = useQuery({ query: SEARCHED_TAGS, requestPolicy: 'cache-and-network' })
  const set = (filters: Record<string, string | readonly string[] | null>) =>
    onQuery(withFilters(query, filters))
  const one = (key: string) => valuesOf(query, key)
  /** A menu entry that sets a filter. Choosing it again removes the filter. */
  const choice = (label: string, filters: Record<string, string | null>): MenuEntry => {
    const isChosen = Object.entries(filters).every(([key, value]) =>
      value === null
        ? one(key).length === 0
        : one(key).length === 1 && one(key)[0]?.toLowerCase() === value.toLowerCase(),
    )
    const none = Object.fromEntries(Object.keys(filters).map(key => [key, null]))
    return {
      id: JSON.stringify(filters),
      label,
      isChosen,
      run: () => set(isChosen ? none : filters),
    }
  }

  const year = new Date().getUTCFullYear()
  const people = useMemo(
    () => [...new Set(hits.flatMap(({ createdBy }) => createdBy?.name || []))].slice(0, 8),
    [hits],
  )
  const recent = me === undefined ? [] : readRecent(me).filter(({ path }) => path !== '')
  const nameOfDrive = (slug: string | null) =>
    slug === null ? text('myFiles') : (workspaces.find(one => one.slug === slug)?.name ?? slug)
  const tags = [
    ...(tagged?.me.drive.tags ?? []),
    ...(tagged?.me.workspaces?.nodes ?? []).flatMap(({ drive }) => drive?.tags ?? []),
  ].map(({ name }) => name)

  const said = (key: string, name: (value: string) => string = value => value) =>
    one(key).map(name).join(', ')
  const days = [
    ...one('after').map(value => text('since', { when: value })),
    ...one('before').map(value => text('until', { when: value })),
  ].join(', ')
  const place = [
    ...one('drive').map(value =>
      value.toLowerCase() === 'me' ? text('myFiles') : nameOfDrive(value),
    ),
    ...one('in'),
  ].join(' / ')
  const kindName = (value: string) =>
    value
      .split(',')
      .map(kind =>
        kinds.some(known => known === kind) ? text(kind as (typeof kinds)[number]) : kind,
      )
      .join(', ')

  return (
    <div className="search-filters" role="toolbar" aria-label={text('filters')}>
      <Chip
        label={text('kind')}
        value={said('type', kindName)}
        onClear={() => set({ type: null })}
        entries={kinds.map(kind => choice(text(kind), { type: kind }))}
      />
      <Chip
        label={text('place')}
        value={place}
        onClear={() => set({ drive: null, in: null })}
        entries={[
          choice(text('myFiles'), { drive: 'me', in: null }),
          ...workspaces.map(({ slug, name }) => choice(name, { drive: slug, in: null })),
          ...(recent.length > 0 ? ['separator' as const] : []),
          ...recent.map(({ workspace, path }) => ({
            ...(choice(`${nameOfDrive(workspace)} / ${path.replaceAll('/', ' / ')}`, {
              drive: workspace ?? 'me',
              in: path,
            }) as Exclude<MenuEntry, 'separator'>),
            id: hrefOf({ workspace, path }),
          })),
        ]}
      />
      <Chip
        label={text('changed')}
        value={days}
        onClear={() => set({ after: null, before: null })}
        entries={[
          choice(text('lastDays', { count: 7 }), { after: isoDay(7), before: null }),
          choice(text('lastDays', { count: 30 }), { after: isoDay(30), before: null }),
          choice(text('inYear', { year: String(year) }), { after: String(year), before: null }),
          choice(text('inYear', { year: String(year - 1) }), {
            after: String(year - 1),
            before: String(year),
          }),
          choice(text('until', { when: String(year - 1) }), {
            after: null,
            before: String(year - 1),
          }),
        ]}
      />
      <Chip
        label={text('person')}
        value={said('by', who => (who === 'me' ? text('me') : who))}
        onClear={() => set({ by: null })}
        entries={[
          choice(text('me'), { by: 'me' }),
          ...people.map(name => choice(name, { by: name })),
        ]}
      />
      <Chip
        label={text('size')}
        value={said('size')}
        onClear={() => set({ size: null })}
        entries={sizes.map(([value, bytes]) =>
          choice(text(value.startsWith('>') ? 'larger' : 'smaller', { size: formatBytes(bytes) }), {
            size: value,
          }),
        )}
      />
      {(tags.length > 0 || one('tag').length > 0) && (
        <Chip
          label={text('tag')}
          value={said('tag')}
          onClear={() => set({ tag: null })}
          entries={[...new Set(tags)]
            .sort((a, b) => a.localeCompare(b))
            .map(name => choice(name, { tag: name }))}
        />
      )}
      <Button
        className={`search-chip${one('is').includes('shared') ? ' set' : ''}`}
        aria-pressed={one('is').includes('shared')}
        onPress={() => set({ is: one('is').includes('shared') ? null : 'shared' })}
      >
        {text('shared')}
      </Button>
    </div>
  )
}

/** One filter: its value, a menu of values, and a button to remove it. */
function Chip(props: { label: string; value: string; entries: MenuEntry[]; onClear: () => void }) {
  const { label, value, entries, onClear } = props
  return (
    <span className="search-chip-group">
      <Menu
        label={value ? `${label}: ${value}` : label}
        placement="bottom start"
        entries={entries}
        button={{ className: `search-chip${value ? ' set' : ''}` }}
      >
        <span dir="auto">{value || label}</span>
        {!value && <ChevronDown aria-hidden />}
      </Menu>
      {value && (
        <Button
          look="icon"
          className="search-chip-clear"
          aria-label={text('clearFilter', { name: label })}
          onPress={onClear}
        >
          <X />
        </Button>
      )}
    </span>
  )
}
