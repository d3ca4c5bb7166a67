import type { MenuProps, OpenMenu } from '../../../parts/menu.tsx'
import { PopoverMenu } from '../../../parts/popover-menu.tsx'
import type { Commands } from '../commands.ts'
import type { Entry } from '../documents.ts'
import { entriesMenu, folderMenu } from './menus.ts'

interface FilesMenuProps extends Omit<MenuProps, 'entries'>, OpenMenu {
  commands: Commands
  of: readonly Entry[]
}

/** The open menu of some entries, or of the folder if there are none. */
export const FilesMenu = ({ commands, of, ...open }: FilesMenuProps) => (
  <PopoverMenu
    {...open}
    entries={of.length > 0 ? entriesMenu(commands, of) : folderMenu(commands)}
  />
)
