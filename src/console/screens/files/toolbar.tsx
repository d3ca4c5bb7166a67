import { formatNumber } from '../../i18n/format.ts'
import { nothing } from '../../listing/selection.ts'
import { Button } from '../../parts/button.tsx'
import {
  ArrowDownUp,
  Download,
  Ellipsis,
  FolderInput,
  FolderPlus,
  Info,
  LayoutGrid,
  List,
  PencilLine,
  Tag,
  Trash2,
  UserRoundPlus,
  X,
} from '../../parts/icons.ts'
import { Menu, MenuButton, type MenuEntry } from '../../parts/menu.tsx'
import { UploadButton } from '../../uploads/button/upload-button.tsx'
import { type Commands, mayShare } from './commands.ts'
import type { Entry } from './documents.ts'
import { isOneFile } from './documents.ts'
import { FilesMenu } from './files-menu.ts'
import { sorts } from './search.ts'
import { sortBy } from './sorting.tsx'
import { text } from './text.ts'

/** What can be done here, or with what is selected. */
export function Toolbar(props: Commands & { count: number; hasMore: boolean }) {
  const { drive, selected, search, setSearch } = props
  return (
    <div className="toolbar" role="toolbar" aria-label={text('actions')}>
      {selected.length > 0 ? <WithSelection {...props} /> : <WithFolder {...props} />}
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
  return (
    <>
      <span className="count" role="status">
        {count > 0 && text(hasMore ? 'countMore' : 'count', { count, shown: formatNumber(count) })}
      </span>
      {target && drive?.canWrite && (
        <>
          <Button className="wide-only" onPress={() => setOpen('new-folder')}>
            <FolderPlus />
            {text('newFolder')}
          </Button>
          <UploadButton to={target} />
        </>
      )}
      <Menu label={text('sort')} entries={sorting} button={{ look: 'icon' }}>
        <ArrowDownUp />
      </Menu>
      <span className="narrow-only">
        <More commands={props} of={[]} label={text('actions')} />
      </span>
    </>
  )
}

function WithSelection(props: Commands) {
  const { selected, selection, select, drive, act, remove, setOpen, startRename } = props
  const [first] = selected
  return (
    <>
      <Button look="icon" aria-label={text('clear')} onPress={() => select({ ...nothing, cursor: selection.cursor })}>
        <X />
      </Button>
      <span className="count strong" role="status">
        {text('selected', { count: selected.length })}
      </span>
      <Button
        look="icon"
        aria-label={text(isOneFile(selected) ? 'download' : 'downloadZip')}
        onPress={() => act(actions => actions.download(selected))}
      >
        <Download />
      </Button>
      {mayShare(drive, selected) && (
        <Button look="icon" aria-label={text('share')} onPress={() => setOpen('share')}>
          <UserRoundPlus />
        </Button>
      )}
      {drive?.canWrite && (
        <>
          <Button look="icon" aria-label={text('moveTo')} onPress={() => setOpen('picker')}>
            <FolderInput />
          </Button>
          {first && selected.length === 1 && (
            <Button look="icon" className="wide-only" aria-label={text('rename')} onPress={() => startRename(first)}>
              <PencilLine />
            </Button>
          )}
        </>
      )}
      {drive?.canDelete && (
        <Button look="icon" aria-label={text('delete')} onPress={() => remove(selected)}>
          <Trash2 />
        </Button>
      )}
      <More commands={props} of={selected} label={text('moreActions')} />
    </>
  )
}

/** All that can be done with some entries; with none, in the folder. */
const More = ({ label, ...of }: { label: string; commands: Commands; of: readonly Entry[] }) => (
  <MenuButton label={label} button={{ look: 'icon' }} opened={open => <FilesMenu {...of} {...open} label={label} />}>
    <Ellipsis />
  </MenuButton>
)
