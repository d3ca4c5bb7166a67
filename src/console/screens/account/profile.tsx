import { useState } from 'react'
import { graphql } from '../../graphql/graphql.ts'
import { useKeptQuery } from '../../graphql/kept.ts'
import { formatBytes, formatExact, formatNumber } from '../../i18n/format.ts'
import { Avatar } from '../../parts/avatar.tsx'
import { Button } from '../../parts/button.tsx'
import { Figures } from '../../parts/figures.tsx'
import { personName } from '../../parts/person-name.ts'
import { Section } from '../../parts/screen.tsx'
import { Skeleton } from '../../parts/states.tsx'
import { SPACE, Space } from '../../space/space.tsx'
import { AccountScreen } from './account-screen.tsx'
import { DeleteAccount } from './delete-account.tsx'
import { ExportData } from './export-data.tsx'
import { text } from './text.ts'

const PROFILE = graphql(
  `
    query Profile {
      me {
        id
        name
        email
        emailVerified
        createdAt
        plan {
          id
          name
        }
        limits {
          maxFileSize
          maxLinks
          maxApiKeys
          maxWorkspaces
          maxWorkspaceBytes
          maxWorkspaceMembers
        }
        drive {
          ...Space
        }
      }
    }
  `,
  [SPACE],
)

/** The person's name, quota and storage use. */
export function Profile() {
  const [{ data, error }, reload] = useKeptQuery({
    query: PROFILE,
    requestPolicy: 'cache-and-network',
  })
  const [isDeleting, setDeleting] = useState(false)
  const me = data?.me
  return (
    <AccountScreen error={error} retry={() => reload({ requestPolicy: 'network-only' })}>
      {!me ? (
        <Skeleton />
      ) : (
        <>
          <Section title={text('you')} hint={text('youHint')}>
            <div className="who">
              <Avatar name={me.name} email={me.email} />
              <div>
                <strong dir="auto">{personName(me)}</strong>
                <p className="chips">
                  <span className="soft" dir="auto">
                    {me.email}
                  </span>
                  <span className={`chip${me.emailVerified ? '' : ' wrong'}`}>
                    {text(me.emailVerified ? 'verified' : 'unverified')}
                  </span>
                </p>
              </div>
            </div>
            {!me.emailVerified && <p className="hint">{text('unverifiedHint')}</p>}
            <p className="hint">{text('since', { when: formatExact(me.createdAt) })}</p>
          </Section>
          <Section title={text('storage')}>
            <Space drive={me.drive} filesHref="/files" />
          </Section>
          <Section title={text('plan', { plan: me.plan.name })} hint={text('planHint')}>
            <Figures
              of={[
                [text('maxFileSize'), formatBytes(me.limits.maxFileSize)],
                [text('maxLinks'), limit(me.limits.maxLinks)],
                [text('maxApiKeys'), limit(me.limits.maxApiKeys)],
                [text('maxWorkspaces'), limit(me.limits.maxWorkspaces)],
                [text('maxWorkspaceBytes'), formatBytes(me.limits.maxWorkspaceBytes)],
                [text('maxWorkspaceMembers'), limit(me.limits.maxWorkspaceMembers)],
              ]}
            />
          </Section>
          <ExportData />
          <Section title={text('deleteAccount')} hint={text('deleteHint')}>
            <div>
              <Button look="danger" onPress={() => setDeleting(true)}>
                {text('deleteAccountMore')}
              </Button>
            </div>
          </Section>
          {isDeleting && <DeleteAccount email={me.email} onClose={() => setDeleting(false)} />}
        </>
      )}
    </AccountScreen>
  )
}

const limit = (max: number | null) => (max === null ? text('unlimited') : formatNumber(max))
