import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { graphql, type ResultOf } from '../../graphql/graphql.ts'
import { useKeptQuery } from '../../graphql/kept.ts'
import { usePages } from '../../graphql/use-pages.ts'
import { formatBytes } from '../../i18n/format.ts'
import { Avatar } from '../../parts/avatar.tsx'
import { Button } from '../../parts/button.tsx'
import { CheckBox } from '../../parts/form.tsx'
import { Search, SearchX, UserPlus } from '../../parts/icons.ts'
import { MAX_NAME_PART } from '../../parts/limits.ts'
import { personName } from '../../parts/person-name.ts'
import { Rows } from '../../parts/rows.tsx'
import { Section } from '../../parts/screen.tsx'
import { ShowMore } from '../../parts/show-more.tsx'
import { EmptyState, Skeleton } from '../../parts/states.tsx'
import { AdminScreen } from './admin-screen.tsx'
import { text } from './text.ts'

const ACCOUNTS = graphql(`
  query Accounts($search: String!, $filter: AccountFilter, $first: Int!, $after: String) {
    operator {
      accounts(search: $search, filter: $filter, first: $first, after: $after) {
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
            isOver
          }
          operator {
            bySetting
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`)

/** With an account of the service itself, an operator can invite people to create one. */
const OWN_IDENTITIES = graphql(`
  query OwnIdentities {
    me {
      id
      identities {
        id
        provider
      }
    }
  }
`)

type Account = ResultOf<typeof ACCOUNTS>['operator']['accounts']['nodes'][number]

/** The accounts of the service, searchable by name or email address. */
export function Accounts() {
  const { q = '', over } = useSearch({ strict: false }) as { q?: string; over?: true }
  const { entries, hasMore, isLoading, error, more, refresh } = usePages({
    document: ACCOUNTS,
    variables: { search: q, filter: over ? ('OVER_QUOTA' as const) : null },
    connectionOf: (data: ResultOf<typeof ACCOUNTS> | undefined) => data?.operator.accounts,
    first: 20,
    next: 100,
  })
  return (
    <AdminScreen error={error} retry={refresh}>
      <Section title={text('accounts')} actions={<InviteLink />}>
        <SearchForm key={`${q} ${over}`} q={q} over={over} />
        <OnlyOver q={q} over={over} />
        {isLoading ? (
          <Skeleton />
        ) : entries.length === 0 ? (
          <EmptyState icon={SearchX} level="h3" title={text('nobody')} hint={text('nobodyHint')} />
        ) : (
          <Rows label={text('accounts')}>
            {entries.map(account => (
              <AccountRow key={account.id} account={account} />
            ))}
          </Rows>
        )}
        <ShowMore hasMore={hasMore} more={more} />
      </Section>
    </AdminScreen>
  )
}

function InviteLink() {
  const [{ data }] = useKeptQuery({ query: OWN_IDENTITIES })
  if (!data?.me?.identities?.some(({ provider }) => provider === 'accounts')) return null
  // A server-rendered page.
  return (
    <a className="button plain" href="/account/people">
      <UserPlus />
      {text('invitePeople')}
    </a>
  )
}

function SearchForm({ q, over }: { q: string; over: true | undefined }) {
  const navigate = useNavigate()
  return (
    <form
      role="search"
      className="copy-field"
      onSubmit={event => {
        event.preventDefault()
        const typed = String(new FormData(event.currentTarget).get('q')).trim()
        void navigate({
          to: '/admin',
          search: { ...(typed ? { q: typed } : {}), ...(over ? { over } : {}) },
        })
      }}
    >
      <input
        className="input"
        type="search"
        name="q"
        defaultValue={q}
        maxLength={MAX_NAME_PART}
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

function OnlyOver({ q, over = false }: { q: string; over?: boolean | undefined }) {
  const navigate = useNavigate()
  return (
    <CheckBox
      label={text('onlyOver')}
      checked={over}
      onChange={({ target }) =>
        void navigate({
          to: '/admin',
          search: { ...(q ? { q } : {}), ...(target.checked ? { over: true } : {}) },
        })
      }
    />
  )
}

const AccountRow = ({ account }: { account: Account }) => (
  <li>
    <Avatar name={account.name} email={account.email} />
    <div className="grow">
      <p className="title">
        <Link to="/admin/accounts/$id" params={{ id: account.id }}>
          <bdi>{personName(account)}</bdi>
        </Link>
        {account.operator && <span className="chip">{text('operator')}</span>}
        {account.status === 'SUSPENDED' && <span className="chip wrong">{text('suspended')}</span>}
        {account.usage.isOver && <span className="chip wrong">{text('overQuota')}</span>}
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
