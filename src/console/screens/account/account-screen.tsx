import type { ReactNode } from 'react'
import type { CombinedError } from 'urql'
import { Screen } from '../../parts/screen.tsx'
import { ErrorState } from '../../parts/states.tsx'
import { text } from './text.ts'

const tabs = [
  { to: '/account', label: text('profile') },
  { to: '/account/sign-in', label: text('signIn') },
  { to: '/account/keys', label: text('keys') },
  { to: '/account/webhooks', label: text('webhooks') },
]

interface AccountScreenProps {
  /** The error of the query that loads the screen. */
  error: CombinedError | undefined
  retry: () => void
  children: ReactNode
}

/** The frame of every account screen. */
export const AccountScreen = ({ error, retry, children }: AccountScreenProps) => (
  <Screen title={text('account')} tabs={{ label: text('account'), tabs }}>
    {error ? <ErrorState error={error} retry={retry} /> : children}
  </Screen>
)
