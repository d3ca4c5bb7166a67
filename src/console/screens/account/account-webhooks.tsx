import { graphql } from '../../graphql/graphql.ts'
import { useKeptQuery } from '../../graphql/kept.ts'
import { Skeleton } from '../../parts/states.tsx'
import { WEBHOOK } from '../../webhooks/documents.ts'
import { Webhooks } from '../../webhooks/webhooks.tsx'
import { AccountScreen } from './account-screen.tsx'
import { text } from './text.ts'

const ACCOUNT_WEBHOOKS = graphql(
  `
    query AccountWebhooks {
      me {
        id
        webhooks {
          ...WebhookLine
        }
      }
    }
  `,
  [WEBHOOK],
)

/** Webhooks for events in the person's files and about the person. */
export function AccountWebhooks() {
  const [{ data, error }, reload] = useKeptQuery({
    query: ACCOUNT_WEBHOOKS,
    variables: {},
    requestPolicy: 'cache-and-network',
  })
  const refresh = () => reload({ requestPolicy: 'network-only' })
  const webhooks = data?.me.webhooks
  return (
    <AccountScreen error={error} retry={refresh}>
      {webhooks ? (
        <Webhooks
          hint={text('webhooksHint')}
          webhooks={webhooks}
          workspace={null}
          onChange={refresh}
        />
      ) : (
        <Skeleton />
      )}
    </AccountScreen>
  )
}
