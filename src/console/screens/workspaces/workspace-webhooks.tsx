import { graphql } from '../../graphql/graphql.ts'
import { useKeptQuery } from '../../graphql/kept.ts'
import { WEBHOOK } from '../../webhooks/documents.ts'
import { Webhooks } from '../../webhooks/webhooks.tsx'
import { text } from './text.ts'
import { HEAD, useSlug, WorkspaceScreen } from './workspace-screen.tsx'

const WORKSPACE_WEBHOOKS = graphql(
  `
    query WorkspaceWebhooks($slug: String!) {
      workspace(slug: $slug) {
        ...WorkspaceHead
        webhooks {
          ...WebhookLine
        }
      }
    }
  `,
  [HEAD, WEBHOOK],
)

/** The webhooks of a workspace. */
export function WorkspaceWebhooks() {
  const slug = useSlug()
  const [{ data, error }, reload] = useKeptQuery({
    query: WORKSPACE_WEBHOOKS,
    variables: { slug },
    requestPolicy: 'cache-and-network',
  })
  const refresh = () => reload({ requestPolicy: 'network-only' })
  const workspace = data?.workspace
  return (
    <WorkspaceScreen workspace={workspace} error={error} retry={refresh}>
      {workspace?.webhooks ? (
        <Webhooks
          hint={text('webhooksHint')}
          webhooks={workspace.webhooks}
          workspace={workspace.id}
          onChange={refresh}
        />
      ) : (
        <p className="hint">{text('webhooksRefused')}</p>
      )}
    </WorkspaceScreen>
  )
}
