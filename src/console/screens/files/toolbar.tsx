import { formatNumber } from '../../i18n/format.ts'
import { Button } from '../../parts/button.tsx'
import {
  ArrowDownUp,
  FilePlus2,
  FolderPlus,
  Info,
  LayoutGrid,
  List,
  Plus,
  Tag,
} from '../../parts/icons.ts'
import { Menu, type MenuEntry } from '../../parts/menu.tsx'
import { UploadButton } from '../../uploads/button/upload-button.tsx'
import type { Commands } from './commands.ts'
import { More, SelectionActions } from './selection-actions.tsx'
import { sortBy } from './sorting.tsx'
import { text } from './text.ts'
import { sorts } from './view.ts'

const tileSizes = [
  ['smallTiles', 'small'],
  ['mediumTiles', undefined],
  ['largeTiles', 'large'],
] as const

/** The actions for the folder or for the selection. */
export function Toolbar(props: Commands & { count: number; hasMore: boolean }) {
  const { drive, selected, search, setSearch } = props
  return (
    <div className="toolbar" role="toolbar" aria-label={text('actions')}>
      {selected.length > 0 ? (
        <SelectionActions commands={props} offersRename />
      ) : (
        <WithFolder {...props} />
      )}
      <span className="toolbar-end">
        <Button
          look="icon"
          aria-label={search.view === 'grid' ? text('asList') : text('asGrid')}
          onPress={() => setSearch({ view: search.view === 'grid' ? undefined : 'grid' })}
        >
          {search.view === 'grid' ? <List /> : <LayoutGrid />}
        </Button>
        {!drive?.share && (
          <Button
            look="icon"
            className="wide-only"
            aria-label={text('filterTags')}
            aria-pressed={search.tags !== undefined}
            onPress={() => setSearch({ tags: search.tags === undefined ? '' : undefined })}
          >
            <Tag />
          </Button>
        )}
        {!drive?.share && (
          <Button
            look="icon"
            aria-label={text('details')}
            aria-pressed={Boolean(search.details)}
            onPress={() => setSearch({ details: search.details ? undefined : true })}
          >
            <Info />
          </Button>
        )}
      </span>
    </div>
  )
}

function WithFolder(props: Commands & { count: number; hasMore: boolean }) {
  const { drive, search, setSearch, setOpen, target, count, hasMore } = props
  const sorting = sorts.map(
    (sort): MenuEntry => ({
      id: sort,
      label: text(sort),
      isChosen: (search.sort ?? 'name') === sort,
      run: () => sortBy(sort, { search, setSearch }),
    }),
  )
  const sizes: MenuEntry[] =
    search.view === 'grid'
      ? [
          'separator',
          ...tileSizes.map(([message, size]) => ({
            id: message,
            label: text(message),
            isChosen: search.size === size,
            run: () => setSearch({ size }),
          })),
        ]
      : []
  return (
    <>
      <span className="count" role="status">
        {count > 0 && text(hasMore ? 'countMore' : 'count', { count, shown: formatNumber(count) })}
      </span>
      {target && drive?.canWrite && (
        <>
          <Menu
            label={text('new')}
            entries={[
              {
                id: 'folder',
                label: text('newFolder'),
                icon: FolderPlus,
                keys: 'Alt N',
                run: () => setOpen('new-folder'),
              },
              {
                id: 'text',
                label: text('newText'),
                icon: FilePlus2,
                run: () => setOpen('new-text'),
              },
            ]}
            button={{ className: 'wide-only' }}
          >
            <Plus />
            {text('new')}
          </Menu>
          <UploadButton to={target} />
        </>
      )}
      <Menu label={text('sort')} entries={[...sorting, ...sizes]} button={{ look: 'icon' }}>
        <ArrowDownUp />
      </Menu>
      <span className="narrow-only">
        <More commands={props} of={[]} label={text('actions')} />
      </span>
    </>
  )
}
