import { Mail } from 'lucide-react'
import { graphql } from '../../graphql/graphql.ts'
import { mutate } from '../../graphql/run.ts'
import { formatExact } from '../../i18n/format.ts'
import { Button } from '../../parts/button.tsx'
import { Rows } from '../../parts/rows.tsx'
import { Section } from '../../parts/screen.tsx'
import { toast, toastError } from '../../parts/toasts.tsx'
import { CREATE_INVITE } from './invite-person.tsx'
import { type Role, roleName } from './roles.ts'
import { text } from './text.ts'

interface Invite {
  id: string
  email: string
  role: Role
  expiresAt: string
}

const REVOKE = graphql(`
  mutation RevokeInvite($input: RevokeInviteInput!) {
    revokeInvite(input: $input) {
      workspace {
        id
        invites(first: 1000) {
          nodes {
            id
          }
        }
      }
    }
  }
`)

/** Who is invited and has not answered. @param workspace its id */
export function PendingInvites({ workspace, invites }: { workspace: string; invites: readonly Invite[] }) {
  const resend = async ({ email, role }: Invite) => {
    await mutate(CREATE_INVITE, { input: { workspace, email, role } })
    toast({ message: text('resent', { email }) })
  }
  return (
    <Section title={text('pending')} hint={text('pendingHint')}>
      <Rows label={text('pending')}>
        {invites.map(invite => (
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
                onPress={() => mutate(REVOKE, { input: { invite: invite.id } }).catch(toastError)}
              >
                {text('revoke')}
              </Button>
            </span>
          </li>
        ))}
      </Rows>
    </Section>
  )
}
