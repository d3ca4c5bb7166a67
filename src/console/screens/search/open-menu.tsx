import { FolderOpen } from '../../parts/icons.ts'
import type { MenuEntry, MenuProps, OpenMenu } from '../../parts/menu.tsx'
import { PopoverMenu } from '../../parts/popover-menu.tsx'
import type { Hit } from '../../search/hit.ts'
import type { Commands } from '../files/commands.ts'
import { entriesMenu } from '../files/on-demand/menus.ts'
import { text } from './text.ts'

interface HitsMenuProps extends Omit<MenuProps, 'entries'>, OpenMenu {
  commands: Commands
  of: readonly Hit[]
  /** Opens the folder that contains the result. */
  openFolder: (hit: Hit) => void
}

/** Actions that open the folder first, because they need its screen. */
const elsewhere = new Set(['rename', 'request', 'replace', 'details', 'versions', 'entry-activity'])

/** The open menu of some results: the files menu without actions that need a folder. */
export function HitsMenu({ commands, of, openFolder, ...open }: HitsMenuProps) {
  const [first] = of
  const folder: MenuEntry[] =
    first && of.length === 1
      ? [{ id: 'folder', label: text('inFolder'), icon: FolderOpen, run: () => openFolder(first) }]
      : []
  const all = entriesMenu(commands, of).filter(
    entry => entry === 'separator' || !elsewhere.has(entry.id),
  )
  const at = all.findIndex(entry => entry !== 'separator' && entry.id === 'open') + 1
  return <PopoverMenu {...open} entries={[...all.slice(0, at), ...folder, ...all.slice(at)]} />
}
