import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useSubscription } from 'urql'
import { graphql, type ResultOf } from '../../graphql/graphql.ts'
import { useKeptQuery } from '../../graphql/kept.ts'
import { mutate } from '../../graphql/run.ts'
import { useSeen } from '../../graphql/seen.ts'
import { type PagedList, usePages } from '../../graphql/use-pages.ts'
import { formatExact } from '../../i18n/format.ts'
import { Button } from '../../parts/button.tsx'
import { Plus, UsersRound } from '../../parts/icons.ts'
import { personName } from '../../parts/person-name.ts'
import { Rows } from '../../parts/rows.tsx'
import { Screen, Section } from '../../parts/screen.tsx'
import { ShowMore } from '../../parts/show-more.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx'
import { toast, toastError } from '../../parts/toasts.tsx'
import { useOffers } from '../../shell/offers.ts'
import { NewWorkspace } from './new-workspace.tsx'
import { roleName } from './roles.ts'
import { text } from './text.ts'

const MINE = graphql(`
  fragment MyWorkspaces on Viewer {
    id
    workspaces(first: 1000) {
      nodes {
        id
        name
        slug
        role
        memberCount
      }
    }
    # The navigation shows whether there is one.
    hasInvite: invites(first: 1) {
      nodes {
        id
      }
    }
  }
`)

/** One page of the invites that the person can accept. */
const INVITES = graphql(`
  query MyInvites($first: Int!, $after: String) {
    me {
      id
      invites(first: $first, after: $after) {
        nodes {
          id
          role
          expiresAt
          workspaceName
          token
          invitedBy {
            id
            name
            email
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

const WORKSPACES = graphql(
  `
    query Workspaces {
      me {
        ...MyWorkspaces
      }
    }
  `,
  [MINE],
)

const RECEIVED = graphql(`
  subscription InviteReceived {
    inviteReceived {
      id
    }
  }
`)

const ACCEPT = graphql(
  `
    mutation AcceptInvite($input: AcceptInviteInput!) {
      acceptInvite(input: $input) {
        workspace {
          id
          name
          slug
        }
        viewer {
          ...MyWorkspaces
        }
      }
    }
  `,
  [MINE],
)

const REJECT = graphql(
  `
    mutation RejectInvite($input: RejectInviteInput!) {
      rejectInvite(input: $input) {
        viewer {
          ...MyWorkspaces
        }
      }
    }
  `,
  [MINE],
)

type Mine = ResultOf<typeof MINE>
type Workspace = NonNullable<Mine['workspaces']>['nodes'][number]
type InvitesData = ResultOf<typeof INVITES>
type Invite = NonNullable<InvitesData['me']['invites']>['nodes'][number]

/** The person's workspaces and invites. */
export function Workspaces() {
  const [{ data, error }, reload] = useKeptQuery({
    query: WORKSPACES,
    requestPolicy: 'cache-and-network',
  })
  const [isCreating, setCreating] = useState(false)
  const invites = usePages({
    document: INVITES,
    variables: {},
    connectionOf: (data: InvitesData | undefined) => data?.me.invites,
    first: 100,
    next: 100,
  })
  const refresh = () => {
    reload({ requestPolicy: 'network-only' })
    invites.refresh()
  }
  useOffers(() => [
    { id: 'new-workspace', label: text('create'), icon: UsersRound, run: () => setCreating(true) },
  ])
  const isSeen = useSeen(refresh)
  useSubscription({ query: RECEIVED, pause: !isSeen }, (_, received) => {
    // React may be rendering when this runs.
    queueMicrotask(refresh)
    return received
  })
  const me = data?.me
  const workspaces = me?.workspaces?.nodes ?? []
  const create = (
    <Button look="primary" onPress={() => setCreating(true)}>
      <Plus />
      {text('create')}
    </Button>
  )
  return (
    <Screen title={text('workspaces')} actions={me && create}>
      {error && !me ? (
        <ErrorState error={error} retry={refresh} />
      ) : !me ? (
        <Skeleton />
      ) : (
        <>
          {invites.entries.length > 0 && <Invites invites={invites} />}
          {workspaces.length > 0 ? (
            <Section title={text('yours')}>
              <Rows label={text('yours')}>
                {workspaces.map(workspace => (
                  <WorkspaceRow key={workspace.id} workspace={workspace} />
                ))}
              </Rows>
            </Section>
          ) : (
            <EmptyState icon={UsersRound} title={text('none')} hint={text('noneHint')} />
          )}
        </>
      )}
      {isCreating && <NewWorkspace onClose={() => setCreating(false)} />}
    </Screen>
  )
}

const WorkspaceRow = ({
  workspace: { name, slug, role, memberCount },
}: {
  workspace: Workspace
}) => (
  <li>
    <span className="row-icon" aria-hidden>
      <UsersRound />
    </span>
    <div className="grow">
      <p className="title">
        <Link to="/workspaces/$slug/files" params={{ slug }}>
          <bdi>{name}</bdi>
        </Link>
      </p>
      <p className="sub">
        {[roleName(role), memberCount !== null && text('members', { count: memberCount })]
          .filter(Boolean)
          .join(' · ')}
      </p>
    </div>
  </li>
)

function Invites({ invites }: { invites: PagedList<Invite, InvitesData> }) {
  // The refetch also removes an invite that was withdrawn meanwhile.
  const answer = (work: Promise<void>) => void work.catch(toastError).finally(invites.refresh)
  const accept = async ({ token }: Invite) => {
    const { acceptInvite } = await mutate(ACCEPT, { input: { token: token ?? '' } })
    const workspace = acceptInvite?.workspace
    if (workspace) toast({ message: text('joined', { name: workspace.name }) })
  }
  const decline = async ({ token }: Invite) => {
    await mutate(REJECT, { input: { token: token ?? '' } })
  }
  return (
    <Section title={text('invites')}>
      <Rows label={text('invites')}>
        {invites.entries.map(invite => (
          <li key={invite.id}>
            <span className="row-icon" aria-hidden>
              <UsersRound />
            </span>
            <div className="grow">
              <p className="title">
                <bdi>{invite.workspaceName}</bdi>
                <span className="chip">{roleName(invite.role)}</span>
              </p>
              <p className="sub">
                {text('invitedBy', {
                  name: invite.invitedBy ? personName(invite.invitedBy) : text('somebody'),
                  until: formatExact(invite.expiresAt),
                })}
              </p>
            </div>
            <span className="row-end">
              <Button
                aria-label={text('declineOf', { name: invite.workspaceName })}
                onPress={() => answer(decline(invite))}
              >
                {text('decline')}
              </Button>
              <Button
                look="primary"
                aria-label={text('acceptOf', { name: invite.workspaceName })}
                onPress={() => answer(accept(invite))}
              >
                {text('accept')}
              </Button>
            </span>
          </li>
        ))}
      </Rows>
      <ShowMore {...invites} />
    </Section>
  )
}
