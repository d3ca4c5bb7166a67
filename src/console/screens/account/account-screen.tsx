import type { ReactNode } from 'react'
import { Screen } from '../../parts/screen.tsx'
import { text } from './text.ts'

const tabs = [
  { to: '/account', label: text('profile') },
  { to: '/account/sign-in', label: text('signIn') },
  { to: '/account/keys', label: text('keys') },
  { to: '/account/webhooks', label: text('webhooks') },
]

/** What is around each screen of the account. */
export const AccountScreen = ({ children }: { children: ReactNode }) => (
  <Screen title={text('account')} tabs={{ label: text('account'), tabs }}>
    {children}
  </Screen>
)
