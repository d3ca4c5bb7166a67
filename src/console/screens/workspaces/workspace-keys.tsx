import { graphql, type ResultOf } from '../../graphql/graphql.ts'
import { usePages } from '../../graphql/use-pages.ts'
import { KEYS, Keys } from '../../keys/keys.tsx'
import { workspaceScopes } from '../../keys/scopes.ts'
import { text } from './text.ts'
import { HEAD, useSlug, WorkspaceScreen } from './workspace-screen.tsx'

const WORKSPACE_KEYS = graphql(
  `
    query WorkspaceKeys($slug: String!, $first: Int!, $after: String) {
      workspace(slug: $slug) {
        ...WorkspaceHead
        maxApiKeys
        apiKeys(first: $first, after: $after) {
          ...Keys
        }
      }
    }
  `,
  [HEAD, KEYS],
)

/** The API keys of a workspace. */
export function WorkspaceKeys() {
  const slug = useSlug()
  const keys = usePages({
    document: WORKSPACE_KEYS,
    variables: { slug },
    connectionOf: (data: ResultOf<typeof WORKSPACE_KEYS> | undefined) => data?.workspace?.apiKeys,
    first: 100,
    next: 100,
  })
  const workspace = keys.data?.workspace
  return (
    <WorkspaceScreen workspace={workspace} error={keys.error} retry={keys.refresh}>
      {workspace?.apiKeys ? (
        <Keys
          hint={text('keysHint')}
          keys={keys}
          max={workspace.maxApiKeys ?? 0}
          scopes={workspaceScopes}
          workspace={{ id: workspace.id, slug }}
        />
      ) : (
        <p className="hint">{text('keysRefused')}</p>
      )}
    </WorkspaceScreen>
  )
}
