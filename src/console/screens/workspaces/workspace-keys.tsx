import { graphql } from '../../graphql/graphql.ts'
import { useKeptQuery } from '../../graphql/kept.ts'
import { KEYS, Keys } from '../../keys/keys.tsx'
import { workspaceScopes } from '../../keys/scopes.ts'
import { text } from './text.ts'
import { HEAD, useSlug, WorkspaceScreen } from './workspace-screen.tsx'

const WORKSPACE_KEYS = graphql(
  `
    query WorkspaceKeys($slug: String!) {
      workspace(slug: $slug) {
        ...WorkspaceHead
        maxApiKeys
        apiKeys(first: 1000) {
          ...Keys
        }
      }
    }
  `,
  [HEAD, KEYS],
)

/** The keys by which programs work on a workspace. */
export function WorkspaceKeys() {
  const slug = useSlug()
  const [{ data, error }, reload] = useKeptQuery({
    query: WORKSPACE_KEYS,
    variables: { slug },
    requestPolicy: 'cache-and-network',
  })
  const refresh = () => reload({ requestPolicy: 'network-only' })
  const workspace = data?.workspace
  return (
    <WorkspaceScreen workspace={workspace} error={error} retry={refresh}>
      {workspace?.apiKeys ? (
        <Keys
          hint={text('keysHint')}
          keys={workspace.apiKeys}
          max={workspace.maxApiKeys ?? 0}
          scopes={workspaceScopes}
          workspace={workspace.id}
          onChange={refresh}
        />
      ) : (
        <p className="hint">{text('keysRefused')}</p>
      )}
    </WorkspaceScreen>
  )
}
