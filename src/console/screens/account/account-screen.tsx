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
  /** Why what it shows could not be loaded. */
  error: CombinedError | undefined
  retry: () => void
  children: ReactNode
}

/** What is around each screen of the account. */
export const AccountScreen = ({ error, retry, children }: AccountScreenProps) => (
  <Screen title={text('account')} tabs={{ label: text('account'), tabs }}>
    {error ? <ErrorState error={error} retry={retry} /> : children}
  </Screen>
)
