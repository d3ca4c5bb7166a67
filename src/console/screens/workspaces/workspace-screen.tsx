import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { CombinedError } from 'urql'
import { codeOf } from '../../graphql/errors.ts'
import { graphql, type ResultOf } from '../../graphql/graphql.ts'
import { LinkButton } from '../../parts/button.tsx'
import { UsersRound } from '../../parts/icons.ts'
import { Screen } from '../../parts/screen.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx'
import { useWorkspaceTabs } from './tabs.tsx'
import { text } from './text.ts'

/** What every screen of a workspace shows. */
export const HEAD = graphql(`
  fragment WorkspaceHead on Workspace {
    id
    name
    slug
    role
    permissions
  }
`)

type Head = ResultOf<typeof HEAD>

/** The slug in the address. */
export const useSlug = (): string => (useParams({ strict: false }) as { slug?: string }).slug ?? ''

interface WorkspaceScreenProps {
  workspace: Head | null | undefined
  error: CombinedError | undefined
  retry: () => void
  children: ReactNode
}

/** What is around each screen of a workspace but that of its files. */
export function WorkspaceScreen({ workspace, error, retry, children }: WorkspaceScreenProps) {
  const tabs = useWorkspaceTabs(useSlug())
  // The service says the same of what does not exist and of what is not for this person.
  if (codeOf(error) === 'FORBIDDEN')
    return (
      <EmptyState icon={UsersRound} level="h1" title={text('missing')} hint={text('missingHint')}>
        <LinkButton href="/workspaces">{text('workspaces')}</LinkButton>
      </EmptyState>
    )
  return (
    <Screen title={workspace?.name ?? text('workspace')} tabs={tabs}>
      {workspace ? children : error ? <ErrorState error={error} retry={retry} /> : <Skeleton />}
    </Screen>
  )
}
