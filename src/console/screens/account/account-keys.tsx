import { graphql, type ResultOf } from '../../graphql/graphql.ts'
import { usePages } from '../../graphql/use-pages.ts'
import { KEYS, Keys } from '../../keys/keys.tsx'
import { privateScopes } from '../../keys/scopes.ts'
import { Skeleton } from '../../parts/states.tsx'
import { AccountScreen } from './account-screen.tsx'
import { text } from './text.ts'

const ACCOUNT_KEYS = graphql(
  `
    query AccountKeys($first: Int!, $after: String) {
      me {
        id
        limits {
          maxApiKeys
        }
        apiKeys(first: $first, after: $after) {
          ...Keys
        }
      }
    }
  `,
  [KEYS],
)

/** The person's own API keys. */
export function AccountKeys() {
  const keys = usePages({
    document: ACCOUNT_KEYS,
    variables: {},
    connectionOf: (data: ResultOf<typeof ACCOUNT_KEYS> | undefined) => data?.me.apiKeys,
    first: 100,
    next: 100,
  })
  const me = keys.data?.me
  return (
    <AccountScreen error={me ? undefined : keys.error} retry={keys.refresh}>
      {me?.apiKeys ? (
        <Keys
          hint={text('keysHint')}
          keys={keys}
          max={me.limits.maxApiKeys}
          scopes={privateScopes}
          workspace={null}
        />
      ) : (
        <Skeleton />
      )}
    </AccountScreen>
  )
}
