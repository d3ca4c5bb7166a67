import { graphql } from '../../graphql/graphql.ts'
import { useKeptQuery } from '../../graphql/kept.ts'
import { KEYS, Keys } from '../../keys/keys.tsx'
import { privateScopes } from '../../keys/scopes.ts'
import { ErrorState, Skeleton } from '../../parts/states.tsx'
import { AccountScreen } from './account-screen.tsx'
import { text } from './text.ts'

const ACCOUNT_KEYS = graphql(
  `
    query AccountKeys($first: Int!) {
      me {
        id
        plan {
          id
          maxApiKeys
        }
        apiKeys(first: $first) {
          ...Keys
        }
      }
    }
  `,
  [KEYS],
)

/** The keys by which programs act as the person. */
export function AccountKeys() {
  const [{ data, error }, reload] = useKeptQuery({
    query: ACCOUNT_KEYS,
    variables: { first: 100 },
    requestPolicy: 'cache-and-network',
  })
  const refresh = () => reload({ requestPolicy: 'network-only' })
  if (error) return <ErrorState error={error} retry={refresh} />
  const me = data?.me
  return (
    <AccountScreen>
      {me?.apiKeys ? (
        <Keys
          hint={text('keysHint')}
          keys={me.apiKeys}
          max={me.plan.maxApiKeys}
          scopes={privateScopes}
          workspace={null}
          onChange={refresh}
        />
      ) : (
        <Skeleton />
      )}
    </AccountScreen>
  )
}
