import type { ReactNode } from 'react'
import type { CombinedError } from 'urql'
import { codeOf } from '../../graphql/errors.ts'
import { LinkButton } from '../../parts/button.tsx'
import { ShieldX } from '../../parts/icons.ts'
import { Screen } from '../../parts/screen.tsx'
import { EmptyState, ErrorState } from '../../parts/states.tsx'
import { text } from './text.ts'

const tabs = [
  { to: '/admin/status', label: text('status') },
  { to: '/admin', label: text('accounts') },
  { to: '/admin/plans', label: text('plans') },
  { to: '/admin/storage', label: text('storage') },
  { to: '/admin/shares', label: text('shares') },
  { to: '/admin/audit', label: text('audit') },
  { to: '/admin/service', label: text('service') },
]

interface AdminScreenProps {
  title?: string
  error: CombinedError | undefined
  retry: () => void
  children: ReactNode
}

/** The frame of every administration screen. */
export function AdminScreen({ title = text('admin'), error, retry, children }: AdminScreenProps) {
  if (codeOf(error) === 'FORBIDDEN')
    return (
      <EmptyState icon={ShieldX} level="h1" title={text('refused')} hint={text('refusedHint')}>
        <LinkButton href="/files">{text('toFiles')}</LinkButton>
      </EmptyState>
    )
  return (
    <Screen title={title} tabs={{ label: text('admin'), tabs }}>
      {error ? <ErrorState error={error} retry={retry} /> : children}
    </Screen>
  )
}
