import { lazy } from 'react'
import { Avatar } from '../parts/avatar.tsx'
import { MenuButton } from '../parts/menu.tsx'
import type { Me } from './me.ts'
import { text } from './text.ts'

const OpenAccountMenu = lazy(() =>
  import('./open-account-menu.tsx').then(({ OpenAccountMenu }) => ({ default: OpenAccountMenu })),
)

/** The account menu. */
export const AccountMenu = ({ me }: { me: Me }) => (
  <MenuButton
    label={text('accountMenu')}
    button={{ look: 'icon' }}
    opened={open => <OpenAccountMenu me={me} {...open} />}
  >
    <Avatar name={me.name} email={me.email} />
  </MenuButton>
)
