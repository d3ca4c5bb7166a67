import { useState } from 'react'
import { graphql, type ResultOf } from '../../graphql/graphql.ts'
import { useKeptQuery } from '../../graphql/kept.ts'
import { mutate } from '../../graphql/run.ts'
import { formatExact } from '../../i18n/format.ts'
import { formatRelative } from '../../i18n/times.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { CheckBox } from '../../parts/form.tsx'
import { Fingerprint, Monitor, Plus, Smartphone } from '../../parts/icons.ts'
import { Rows } from '../../parts/rows.tsx'
import { Section } from '../../parts/screen.tsx'
import { Skeleton } from '../../parts/states.tsx'
import { toast, toastError } from '../../parts/toasts.tsx'
import { AccountScreen } from './account-screen.tsx'
import { text } from './text.ts'

const IDENTITIES = graphql(`
  fragment Identities on Viewer {
    id
    email
    emailVerified
    identities {
      id
      provider
      email
      emailVerified
      name
      createdAt
    }
  }
`)

const SESSIONS = graphql(`
  fragment Sessions on Viewer {
    id
    sessions {
      id
      device
      address
      createdAt
      lastUsedAt
      current
    }
  }
`)

const SIGN_IN = graphql(
  `
    query SignIn {
      me {
        ...Identities
        ...Sessions
        signInNotices
      }
    }
  `,
  [IDENTITIES, SESSIONS],
)

const REMOVE_IDENTITY = graphql(
  `
    mutation RemoveIdentity($input: RemoveIdentityInput!) {
      removeIdentity(input: $input) {
        viewer {
          ...Identities
          ...Sessions
        }
      }
    }
  `,
  [IDENTITIES, SESSIONS],
)

const END_SESSION = graphql(
  `
    mutation EndSession($input: EndSessionInput!) {
      endSession(input: $input) {
        viewer {
          ...Sessions
        }
      }
    }
  `,
  [SESSIONS],
)

const END_OTHERS = graphql(
  `
    mutation EndOtherSessions {
      endOtherSessions {
        count
        viewer {
          ...Sessions
        }
      }
    }
  `,
  [SESSIONS],
)

const SET_NOTICES = graphql(`
  mutation SetSignInNotices($input: SetSignInNoticesInput!) {
    setSignInNotices(input: $input) {
      viewer {
        id
        signInNotices
      }
    }
  }
`)

type Identity = NonNullable<ResultOf<typeof IDENTITIES>['identities']>[number]

/** Sign-in methods and active sessions. */
export function SignIn() {
  const [{ data, error }, reload] = useKeptQuery({
    query: SIGN_IN,
    requestPolicy: 'cache-and-network',
  })
  const me = data?.me
  return (
    <AccountScreen error={error} retry={() => reload({ requestPolicy: 'network-only' })}>
      {!me ? (
        <Skeleton />
      ) : (
        <>
          <Identities identities={me.identities ?? []} />
          <Sessions sessions={me.sessions ?? []} />
          <Section title={text('notices')}>
            <CheckBox
              label={text('noticesLabel')}
              hint={text('noticesHint')}
              checked={me.signInNotices ?? false}
              onChange={({ target }) =>
                mutate(SET_NOTICES, { input: { enabled: target.checked } }).catch(toastError)
              }
            />
          </Section>
        </>
      )}
    </AccountScreen>
  )
}

/** The display name of a provider. `local` is the built-in sign-in of this server. */
const nameOf = ({ provider }: Identity) => (provider === 'local' ? text('local') : provider)

function Identities({ identities }: { identities: readonly Identity[] }) {
  const [removing, setRemoving] = useState<Identity | null>(null)
  return (
    <Section
      title={text('identities')}
      hint={text('identitiesHint')}
      actions={
        // A server-rendered page: it redirects to the provider and then confirms the new identity.
        <a className="button plain" href="/identities">
          <Plus />
          {text('addIdentity')}
        </a>
      }
    >
      {identities.some(({ provider }) => provider === 'accounts') && (
        <p>
          <a href="/account/security">{text('security')}</a>
        </p>
      )}
      <Rows label={text('identities')}>
        {identities.map(identity => (
          <li key={identity.id}>
            <span className="row-icon" aria-hidden>
              <Fingerprint />
            </span>
            <div className="grow">
              <p className="title">
                <span className="provider">{nameOf(identity)}</span>
                {!identity.emailVerified && (
                  <span className="chip wrong">{text('unverified')}</span>
                )}
              </p>
              <p className="sub" dir="auto">
                {identity.email || identity.name}
              </p>
              <p className="sub">{text('added', { when: formatExact(identity.createdAt) })}</p>
            </div>
            {identities.length > 1 && (
              <Button
                aria-label={text('removeOf', { provider: nameOf(identity), email: identity.email })}
                onPress={() => setRemoving(identity)}
              >
                {text('remove')}
              </Button>
            )}
          </li>
        ))}
      </Rows>
      {removing && (
        <Confirm
          title={text('removeIdentity')}
          isOpen
          label={text('remove')}
          onClose={() => setRemoving(null)}
          onConfirm={() =>
            mutate(REMOVE_IDENTITY, { input: { identity: removing.id } }).catch(toastError)
          }
        >
          <p>{text('removeWarning', { provider: nameOf(removing), email: removing.email })}</p>
        </Confirm>
      )}
    </Section>
  )
}

function Sessions({
  sessions,
}: {
  sessions: readonly NonNullable<ResultOf<typeof SESSIONS>['sessions']>[number][]
}) {
  const endOthers = async () => {
    const { endOtherSessions } = await mutate(END_OTHERS, {})
    toast({ message: text('othersEnded', { count: endOtherSessions?.count ?? 0 }) })
  }
  return (
    <Section
      title={text('sessions')}
      hint={text('sessionsHint')}
      actions={
        sessions.length > 1 && (
          <Button onPress={() => void endOthers().catch(toastError)}>{text('endOthers')}</Button>
        )
      }
    >
      <Rows label={text('sessions')}>
        {sessions.map(({ id, device, address, createdAt, lastUsedAt, current }) => (
          <li key={id}>
            <span className="row-icon" aria-hidden>
              {/Android|iOS|iPhone|iPad/i.test(device) ? <Smartphone /> : <Monitor />}
            </span>
            <div className="grow">
              <p className="title">
                <span dir="auto">{device}</span>
                {current && <span className="chip">{text('thisOne')}</span>}
              </p>
              <p className="sub">
                {text('sessionFacts', {
                  address,
                  begun: formatExact(createdAt),
                  used: formatRelative(lastUsedAt),
                })}
              </p>
            </div>
            {!current && (
              <Button
                aria-label={text('endOf', { device })}
                onPress={() => mutate(END_SESSION, { input: { session: id } }).catch(toastError)}
              >
                {text('end')}
              </Button>
            )}
          </li>
        ))}
      </Rows>
    </Section>
  )
}
