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

/** The fields that every workspace screen needs. */
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

/** The workspace slug from the URL. */
export const useSlug = (): string => (useParams({ strict: false }) as { slug?: string }).slug ?? ''

interface WorkspaceScreenProps {
  workspace: Head | null | undefined
  error: CombinedError | undefined
  retry: () => void
  children: ReactNode
}

/** The frame of every workspace screen except its files. */
export function WorkspaceScreen({ workspace, error, retry, children }: WorkspaceScreenProps) {
  const tabs = useWorkspaceTabs(useSlug())
  // The service responds the same to missing workspaces and to those of others.
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
