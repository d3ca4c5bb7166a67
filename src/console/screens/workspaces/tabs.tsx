import { useQuery } from 'urql'
import { graphql } from '../../graphql/graphql.ts'
import { Tabs, type TabsProps } from '../../parts/screen.tsx'
import { text } from './text.ts'

const PERMISSIONS = graphql(`
  query WorkspacePermissions($slug: String!) {
    workspace(slug: $slug) {
      id
      permissions
    }
  }
`)

/**
 * Tabs of a workspace: files, members, keys, activity, trash and settings. The list depends on the
 * person's permissions.
 */
export function useWorkspaceTabs(slug: string): TabsProps {
  const [{ data }] = useQuery({ query: PERMISSIONS, variables: { slug } })
  const at = `/workspaces/${slug}`
  const permissions = data?.workspace.permissions ?? []
  return {
    label: text('workspace'),
    tabs: [
      { to: `${at}/files`, label: text('files'), andBelow: true },
      { to: `${at}/pictures`, label: text('pictures') },
      { to: `${at}/members`, label: text('membersTab') },
      ...(permissions.includes('MANAGE_KEYS') ? [{ to: `${at}/keys`, label: text('keys') }] : []),
      ...(permissions.includes('MANAGE_WEBHOOKS')
        ? [{ to: `${at}/webhooks`, label: text('webhooks') }]
        : []),
      { to: `${at}/activity`, label: text('activity') },
      { to: `${at}/trash`, label: text('trash') },
      { to: `${at}/settings`, label: text('settings') },
    ],
  }
}

export const WorkspaceTabs = ({ slug }: { slug: string }) => <Tabs {...useWorkspaceTabs(slug)} />
