import { nothing, type Selection } from '../../listing/selection.ts'
import { Button } from '../../parts/button.tsx'
import { Download, Ellipsis, UserRoundPlus, X } from '../../parts/icons.ts'
import type { Point } from '../../parts/menu.tsx'
import type { Hit } from '../../search/hit.ts'
import { type Commands, mayShare } from '../files/commands.ts'
import { isOneFile } from '../files/documents.ts'
import { text } from './text.ts'

interface SelectedProps extends Pick<Commands, 'drive' | 'setOpen'> {
  selected: readonly Hit[]
  selection: Selection
  select: (next: Selection) => void
  commands: Commands
  setMenu: (menu: { at: Point; of: readonly Hit[] }) => void
}

/** What can be done with the selected results. */
export function Selected({ selected, selection, select, drive, commands, setOpen, setMenu }: SelectedProps) {
  const { act } = commands
  return (
    <div className="toolbar" role="toolbar" aria-label={text('actions')}>
      <Button look="icon" aria-label={text('clear')} onPress={() => select({ ...nothing, cursor: selection.cursor })}>
        <X />
      </Button>
      <span className="count strong" role="status">
        {text(drive ? 'selected' : 'selectedMixed', { count: selected.length })}
      </span>
      {drive && (
        <>
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
          <Button
            look="icon"
            aria-label={text('moreActions')}
            aria-haspopup="menu"
            onPress={({ target }) => {
              const { left, bottom } = target.getBoundingClientRect()
              setMenu({ at: { x: left, y: bottom }, of: selected })
            }}
          >
            <Ellipsis />
          </Button>
        </>
      )}
    </div>
  )
}
