import { nothing } from '../../listing/selection.ts'
import { Button } from '../../parts/button.tsx'
import { Download, Ellipsis, FolderInput, PencilLine, Trash2, UserRoundPlus, X } from '../../parts/icons.ts'
import { MenuButton } from '../../parts/menu.tsx'
import { type Commands, mayShare } from './commands.ts'
import type { Entry } from './documents.ts'
import { isOneFile } from './documents.ts'
import { FilesMenu } from './files-menu.ts'
import { text } from './text.ts'

/**
 * What can be done with what is selected.
 * @param offersRename where there is place for a field
 */
export function SelectionActions({ commands, offersRename = false }: { commands: Commands; offersRename?: boolean }) {
  const { selected, selection, select, drive, act, remove, setOpen, startRename } = commands
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
          {offersRename && first && selected.length === 1 && (
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
      <More commands={commands} of={selected} label={text('moreActions')} />
    </>
  )
}

/** All that can be done with some entries; with none, in the folder. */
export const More = ({ label, ...of }: { label: string; commands: Commands; of: readonly Entry[] }) => (
  <MenuButton label={label} button={{ look: 'icon' }} opened={open => <FilesMenu {...of} {...open} label={label} />}>
    <Ellipsis />
  </MenuButton>
)
