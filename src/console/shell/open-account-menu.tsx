import type { OpenMenu } from '../parts/menu.tsx'
import { personName } from '../parts/person-name.ts'
import { PopoverMenu } from '../parts/popover-menu.tsx'
import { useAccountEntries } from './account-entries.ts'
import type { Me } from './me.ts'
import { text } from './text.ts'

/** The open account menu, in a part that loads on demand. */
export const OpenAccountMenu = ({ me, ...open }: { me: Me } & OpenMenu) => (
  <PopoverMenu
    {...open}
    label={text('accountMenu')}
    header={
      <div className="menu-person">
        <strong dir="auto">{personName(me)}</strong>
        <span dir="auto">{me.email}</span>
      </div>
    }
    entries={useAccountEntries()}
  />
)
