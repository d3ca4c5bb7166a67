import type { ComponentProps } from 'react'
import { nothing } from '../../listing/selection.ts'
import { Button } from '../../parts/button.tsx'
import {
  Download,
  Ellipsis,
  FolderInput,
  PencilLine,
  Trash2,
  UserRoundPlus,
  X,
} from '../../parts/icons.ts'
import { MenuButton } from '../../parts/menu.tsx'
import { type Commands, mayShare } from './commands.ts'
import type { Entry } from './documents.ts'
import { isOneFile } from './documents.ts'
import { FilesMenu } from './files-menu.ts'
import { text } from './text.ts'

type OpenedBy = ComponentProps<typeof MenuButton>['opened']

interface SelectionActionsProps {
  commands: Commands
  /** Whether the entry can be renamed here. */
  offersRename?: boolean
  /** Replaces the default text for the number of selected entries. */
  said?: string | undefined
  /** The menu of further actions, if it differs from the files menu. */
  menu?: OpenedBy | undefined
}

/** The actions for the selection. */
export function SelectionActions({
  commands,
  offersRename = false,
  said,
  menu,
}: SelectionActionsProps) {
  const { selected, selection, select, drive, act, remove, setOpen, startRename } = commands
  const [first] = selected
  return (
    <>
      <Button
        look="icon"
        aria-label={text('clear')}
        onPress={() => select({ ...nothing, cursor: selection.cursor })}
      >
        <X />
      </Button>
      <span className="count strong" role="status">
        {said ?? text('selected', { count: selected.length })}
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
          {offersRename && first && selected.length === 1 && (
            <Button
              look="icon"
              className="wide-only"
              aria-label={text('rename')}
              onPress={() => startRename(first)}
            >
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
      <More commands={commands} of={selected} label={text('moreActions')} opened={menu} />
    </>
  )
}

interface MoreProps {
  label: string
  commands: Commands
  of: readonly Entry[]
  opened?: OpenedBy | undefined
}

/** All actions for some entries, or for the folder if there are none. */
export const More = ({ label, opened, ...of }: MoreProps) => (
  <MenuButton
    label={label}
    button={{ look: 'icon' }}
    opened={opened ?? (open => <FilesMenu {...of} {...open} label={label} />)}
  >
    <Ellipsis />
  </MenuButton>
)
