import { graphql, type ResultOf } from '../../graphql/graphql.ts'
import { mutate } from '../../graphql/run.ts'
import { type PagedList, usePages } from '../../graphql/use-pages.ts'
import { formatExact } from '../../i18n/format.ts'
import { Button } from '../../parts/button.tsx'
import { Mail } from '../../parts/icons.ts'
import { Rows } from '../../parts/rows.tsx'
import { Section } from '../../parts/screen.tsx'
import { ShowMore } from '../../parts/show-more.tsx'
import { toast, toastError } from '../../parts/toasts.tsx'
import { CREATE_INVITE } from './invite-person.tsx'
import { roleName } from './roles.ts'
import { text } from './text.ts'

/** One page of the invites of a workspace. */
const INVITES = graphql(`
  query Invites($slug: String!, $first: Int!, $after: String) {
    workspace(slug: $slug) {
      id
      invites(first: $first, after: $after) {
        nodes {
          id
          email
          role
          expiresAt
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`)

type InvitesData = ResultOf<typeof INVITES>
type Invite = NonNullable<NonNullable<InvitesData['workspace']>['invites']>['nodes'][number]

/** The pending invites of a workspace; empty if the person may not see them. */
export const useInvites = (slug: string) =>
  usePages({
    document: INVITES,
    variables: { slug },
    connectionOf: (data: InvitesData | undefined) => data?.workspace?.invites,
    first: 100,
    next: 100,
  })

interface PendingInvitesProps {
  /** Id of the workspace. */
  workspace: string
  invites: PagedList<Invite, InvitesData>
}

const REVOKE = graphql(`
  mutation RevokeInvite($input: RevokeInviteInput!) {
    revokeInvite(input: $input) {
      workspace {
        id
        invites(first: 100) {
          nodes {
            id
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  }
`)

/** Invites that were not accepted yet. */
export function PendingInvites({ workspace, invites }: PendingInvitesProps) {
  const resend = async ({ email, role }: Invite) => {
    await mutate(CREATE_INVITE, { input: { workspace, email, role } })
    toast({ message: text('resent', { email }) })
  }
  const revoke = async ({ id }: Invite) => {
    await mutate(REVOKE, { input: { invite: id } })
    invites.refresh()
  }
  return (
    <Section title={text('pending')} hint={text('pendingHint')}>
      <Rows label={text('pending')}>
        {invites.entries.map(invite => (
          <li key={invite.id}>
            <span className="row-icon" aria-hidden>
              <Mail />
            </span>
            <div className="grow">
              <p className="title">
                <bdi>{invite.email}</bdi>
                <span className="chip soft">{roleName(invite.role)}</span>
              </p>
              <p className="sub">{text('until', { when: formatExact(invite.expiresAt) })}</p>
            </div>
            <span className="row-end">
              <Button
                aria-label={text('resendOf', { email: invite.email })}
                onPress={() => void resend(invite).catch(toastError)}
              >
                {text('resend')}
              </Button>
              <Button
                aria-label={text('revokeOf', { email: invite.email })}
                onPress={() => void revoke(invite).catch(toastError)}
              >
                {text('revoke')}
              </Button>
            </span>
          </li>
        ))}
      </Rows>
      <ShowMore {...invites} />
    </Section>
  )
}
