import { hrefOf, type Place, parentOf, trim } from '../../../drive/place.ts'
import { mayEditText } from '../../../edit/editable.ts'
import { copyLink } from '../../../parts/copy.ts'
import {
  CalendarDays,
  ClipboardPaste,
  Copy,
  CopyPlus,
  Download,
  FileImage,
  FilePen,
  FilePlus2,
  FileUp,
  FolderInput,
  FolderOpen,
  FolderPlus,
  History,
  Info,
  Keyboard,
  Layers,
  LayoutGrid,
  Link2,
  List,
  Maximize2,
  PencilLine,
  Scissors,
  Star,
  Tag,
  Trash2,
  Upload,
  UserRoundPlus,
} from '../../../parts/icons.ts'
import type { MenuEntry } from '../../../parts/menu.tsx'
import { shareByLink } from '../../../sharing/quick-link.ts'
import { shortcuts } from '../../../shell/shortcuts.tsx'
import { clipboard } from '../clipboard.ts'
import { type Commands, mayCopyTo, mayMark, mayShare, mayTake, pickFiles } from '../commands.ts'
import { type Entry, isOneFile } from '../documents.ts'
import { text } from './text.ts'

/** The menu of some entries. It omits actions that the person may not take. */
export function entriesMenu(commands: Commands, entries: readonly Entry[]): MenuEntry[] {
  const { drive, act, remove, openEntry, setOpen, startRename, setSearch, place } = commands
  const [first] = entries
  if (!first || !drive) return []
  const isOne = entries.length === 1
  const isShared = drive.share !== undefined
  const isMarked = entries.every(({ isFavourite }) => isFavourite)
  const isFiles = entries.every(({ __typename }) => __typename === 'File')
  const groups: (MenuEntry | false)[][] = [
    [
      isOne && {
        id: 'open',
        label: text('open'),
        icon: isFiles ? Maximize2 : FolderOpen,
        keys: '⏎',
        run: () => openEntry(first),
      },
      isOne &&
        first.__typename === 'File' &&
        !drive.mixed &&
        mayEditText(drive, first) && {
          id: 'edit',
          label: text('editText'),
          icon: FilePen,
          run: () => setSearch({ open: first.id, sel: first.id, edit: true }, { push: true }),
        },
      {
        id: 'download',
        label: text(isOneFile(entries) ? 'download' : 'downloadZip'),
        icon: Download,
        run: () => act(actions => actions.download(entries)),
      },
      mayShare(drive, entries) && {
        id: 'share',
        label: text('share'),
        icon: UserRoundPlus,
        keys: 'Alt S',
        run: () => setOpen('share'),
      },
      mayShare(drive, entries) && {
        id: 'share-link',
        label: text('shareLink'),
        icon: Link2,
        run: () => void shareByLink(entries),
      },
      isOne &&
        first.__typename === 'Folder' &&
        !isShared &&
        drive.canWrite && {
          id: 'request',
          label: text('requestFiles'),
          icon: FileUp,
          run: () => setOpen('request'),
        },
      mayMark(drive) && {
        id: 'favourite',
        label: text(isMarked ? 'unmark' : 'mark'),
        icon: Star,
        keys: 'Alt B',
        run: () => act(actions => actions.mark(entries, !isMarked)),
      },
      !isShared &&
        drive.canWrite && {
          id: 'tags',
          label: text('tags'),
          icon: Tag,
          keys: 'Alt T',
          run: () => setOpen('tags'),
        },
      isOne && {
        id: 'link',
        label: text('copyLink'),
        icon: Link2,
        run: () => void copyLink(location.origin + linkTo(first, place)),
      },
    ],
    [
      isOne &&
        drive.canWrite && {
          id: 'rename',
          label: text('rename'),
          icon: PencilLine,
          keys: 'F2',
          run: () => startRename(first),
        },
      isShared &&
        isOneFile(entries) &&
        drive.canDelete && {
          id: 'replace',
          label: text('replaceWith'),
          icon: FileUp,
          run: () => replaceWith(commands, first),
        },
      drive.canWrite && {
        id: 'move',
        label: text('moveTo'),
        icon: FolderInput,
        keys: 'Alt M',
        run: () => setOpen('picker'),
      },
      drive.canWrite &&
        !isShared &&
        !drive.mixed &&
        entries.length > 1 &&
        entries.every(isPhoto) && {
          id: 'by-month',
          label: text('moveByMonth'),
          icon: CalendarDays,
          run: () => act(actions => actions.moveByMonth(entries)),
        },
      drive.canWrite && {
        id: 'cut',
        label: text('cutOut'),
        icon: Scissors,
        keys: 'Ctrl X',
        run: () => act(actions => actions.take(entries, 'move')),
      },
      mayTake(drive) && {
        id: 'copy',
        label: text('copyOut'),
        icon: Copy,
        keys: 'Ctrl C',
        run: () => act(actions => actions.take(entries, 'copy')),
      },
      mayCopyTo(drive) && {
        id: 'copy-to',
        label: text(isShared ? 'saveTo' : 'copyTo'),
        icon: CopyPlus,
        keys: 'Alt C',
        run: () => setOpen('copy-picker'),
      },
      !isShared && {
        id: 'details',
        label: text('details'),
        icon: Info,
        keys: 'Alt ⏎',
        run: () => setSearch({ details: true }),
      },
      isOneFile(entries) &&
        !isShared &&
        !drive.mixed && {
          id: 'versions',
          label: text('versions'),
          icon: Layers,
          run: () => setSearch({ details: 'versions' }),
        },
      isOne &&
        !isShared &&
        !drive.mixed && {
          id: 'entry-activity',
          label: text('activity'),
          icon: History,
          run: () => setSearch({ details: 'activity' }),
        },
    ],
    [
      drive.canDelete && {
        id: 'delete',
        label: text('delete'),
        icon: Trash2,
        keys: 'Del',
        danger: true,
        run: () => remove(entries),
      },
    ],
  ]
  return withSeparators(groups)
}

/** Whether an entry is a picture or a film, which has a time at which it was taken. */
const isPhoto = (entry: Entry): boolean =>
  entry.__typename === 'File' && /^(image|video)\//.test(entry.contentType)

/** Asks for new content for a file. In a share, the owner keeps the old content. */
function replaceWith({ target }: Commands, { name, path }: Entry): void {
  if (!target) return
  const to = { ...target, folder: parentOf(path) }
  void import('../../../uploads/pick-and-add.ts').then(({ pickAndReplace }) =>
    pickAndReplace(to, { fileName: name, revision: 'any' }),
  )
}

/** The URL of a folder, or of a file shown on top of its folder. */
function linkTo({ __typename, id, path }: Entry, place: Place): string {
  if (__typename === 'Folder') return hrefOf({ ...place, path: trim(path) })
  return `${hrefOf({ ...place, path: parentOf(trim(path)) })}?${new URLSearchParams({ open: id })}`
}

/** The menu of the empty area. */
export function folderMenu({
  drive,
  act,
  place,
  target,
  setOpen,
  search,
  setSearch,
  openScreen,
}: Commands): MenuEntry[] {
  return withSeparators([
    [
      drive?.canWrite && {
        id: 'new',
        label: text('newFolder'),
        icon: FolderPlus,
        keys: 'Alt N',
        run: () => setOpen('new-folder'),
      },
      drive?.canWrite &&
        target && {
          id: 'new-text',
          label: text('newText'),
          icon: FilePlus2,
          run: () => setOpen('new-text'),
        },
      drive?.canWrite && {
        id: 'upload',
        label: text('upload'),
        icon: Upload,
        keys: 'Alt U',
        run: () => pickFiles({ target }),
      },
      drive?.canWrite &&
        !drive.share && {
          id: 'request',
          label: text('requestFiles'),
          icon: FileUp,
          run: () => setOpen('request'),
        },
      drive?.canWrite &&
        clipboard.get() && {
          id: 'paste',
          label: text('pasteHere'),
          icon: ClipboardPaste,
          keys: 'Ctrl V',
          run: () => act(actions => actions.paste(place.path)),
        },
    ],
    [
      search.view === 'grid'
        ? {
            id: 'list',
            label: text('asList'),
            icon: List,
            run: () => setSearch({ view: undefined }),
          }
        : {
            id: 'grid',
            label: text('asGrid'),
            icon: LayoutGrid,
            run: () => setSearch({ view: 'grid' }),
          },
      ...(drive?.share
        ? []
        : [
            {
              id: 'details',
              label: text('details'),
              icon: Info,
              keys: 'Alt ⏎',
              run: () => setSearch({ details: true }),
            },
            {
              id: 'filter-tags',
              label: text('filterTags'),
              icon: Tag,
              run: () => setSearch({ tags: search.tags === undefined ? '' : undefined }),
            },
            ...(drive?.canWrite
              ? [
                  {
                    id: 'manage-tags',
                    label: text('manageTags'),
                    icon: Tag,
                    run: () => setOpen('manage-tags'),
                  },
                ]
              : []),
            {
              id: 'pictures',
              label: text('pictures'),
              icon: FileImage,
              run: () => openScreen('pictures'),
            },
            {
              id: 'activity',
              label: text('activity'),
              icon: History,
              run: () => openScreen('activity'),
            },
            { id: 'trash', label: text('trash'), icon: Trash2, run: () => openScreen('trash') },
          ]),
      {
        id: 'keys',
        label: text('keys'),
        icon: Keyboard,
        keys: '?',
        run: () => shortcuts.set(true),
      },
    ],
  ])
}

const withSeparators = (groups: (MenuEntry | false | null | undefined)[][]): MenuEntry[] =>
  groups
    .map(group => group.filter(entry => entry !== false && entry !== null && entry !== undefined))
    .filter(group => group.length > 0)
    .flatMap((group, at): MenuEntry[] => (at === 0 ? group : ['separator', ...group]))
