import { useNavigate, useSearch } from '@tanstack/react-router'
import { Search, SearchX } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Link } from 'react-aria-components'
import { useQuery } from 'urql'
import { graphql, type ResultOf } from '../../graphql/graphql.ts'
import { formatBytes } from '../../i18n/format.ts'
import { Avatar } from '../../parts/avatar.tsx'
import { Button } from '../../parts/button.tsx'
import { Rows } from '../../parts/rows.tsx'
import { Section } from '../../parts/screen.tsx'
import { EmptyState, Skeleton } from '../../parts/states.tsx'
import { AdminScreen } from './admin-screen.tsx'
import { text } from './text.ts'

const PAGE = 20
/** How much a page of the service may have. */
const MAX = 1000

const ACCOUNTS = graphql(`
  query Accounts($search: String!, $first: Int!) {
    accounts(search: $search, first: $first) {
      nodes {
        id
        name
        email
        status
        plan {
          id
          name
        }
        usage {
          usedBytes
          maxBytes
        }
        operator {
          bySetting
        }
      }
      pageInfo {
        hasNextPage
      }
    }
  }
`)

type Account = ResultOf<typeof ACCOUNTS>['accounts']['nodes'][number]

/** The accounts of the service: a part of the name or address finds one. */
export function Accounts() {
  const { q = '' } = useSearch({ strict: false }) as { q?: string }
  const [first, setFirst] = useState(PAGE)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another search begins at its first page
  useEffect(() => setFirst(PAGE), [q])
  const [{ data, error, fetching, stale }, reload] = useQuery({
    query: ACCOUNTS,
    variables: { search: q, first },
    requestPolicy: 'cache-and-network',
  })
  const accounts = data?.accounts
  return (
    <AdminScreen error={error} retry={() => reload({ requestPolicy: 'network-only' })}>
      <Section title={text('accounts')}>
        <SearchForm key={q} q={q} />
        {!accounts ? (
          <Skeleton />
        ) : accounts.nodes.length === 0 ? (
          <EmptyState icon={SearchX} level="h3" title={text('nobody')} hint={text('nobodyHint')} />
        ) : (
          <Rows label={text('accounts')}>
            {accounts.nodes.map(account => (
              <AccountRow key={account.id} account={account} />
            ))}
          </Rows>
        )}
        {accounts?.pageInfo.hasNextPage &&
          (first < MAX ? (
            <div>
              <Button isDisabled={fetching || stale} onPress={() => setFirst(Math.min(MAX, first + PAGE))}>
                {text('more')}
              </Button>
            </div>
          ) : (
            <p className="hint">{text('tooMany')}</p>
          ))}
      </Section>
    </AdminScreen>
  )
}

function SearchForm({ q }: { q: string }) {
  const navigate = useNavigate()
  return (
    <form
      role="search"
      className="copy-field"
      onSubmit={event => {
        event.preventDefault()
        const typed = String(new FormData(event.currentTarget).get('q')).trim()
        void navigate({ to: '/admin', search: typed ? { q: typed } : {} })
      }}
    >
      <input
        className="input"
        type="search"
        name="q"
        defaultValue={q}
        maxLength={255}
        aria-label={text('search')}
        placeholder={text('search')}
      />
      <Button type="submit">
        <Search />
        {text('find')}
      </Button>
    </form>
  )
}

/** The id of an account has a colon in it, which stands in addresses as it is. */
const hrefOf = ({ id }: { id: string }) => `/admin/accounts/${encodeURIComponent(id)}`

const AccountRow = ({ account }: { account: Account }) => (
  <li>
    <Avatar name={account.name} email={account.email} />
    <div className="grow">
      <p className="title">
        <Link href={hrefOf(account)}>
          <bdi>{account.name || account.email}</bdi>
        </Link>
        {account.operator && <span className="chip">{text('operator')}</span>}
        {account.status === 'SUSPENDED' && <span className="chip wrong">{text('suspended')}</span>}
      </p>
      <p className="sub">
        <bdi>{account.email}</bdi>
      </p>
      <p className="sub">
        {text('usage', {
          plan: account.plan.name,
          used: formatBytes(account.usage.usedBytes),
          max: formatBytes(account.usage.maxBytes),
        })}
      </p>
    </div>
  </li>
)
