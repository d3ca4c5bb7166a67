import { Mail } from 'lucide-react'
import { Link } from 'react-aria-components'
import { graphql } from '../../graphql/graphql.ts'
import { useKeptQuery } from '../../graphql/kept.ts'
import { mutate } from '../../graphql/run.ts'
import { formatBytes, formatExact, formatNumber } from '../../i18n/format.ts'
import { Avatar } from '../../parts/avatar.tsx'
import { Button } from '../../parts/button.tsx'
import { Rows } from '../../parts/rows.tsx'
import { Section } from '../../parts/screen.tsx'
import { Skeleton } from '../../parts/states.tsx'
import { toast, toastError } from '../../parts/toasts.tsx'
import { AdminScreen } from './admin-screen.tsx'
import { text } from './text.ts'

const QUEUE = graphql(`
  fragment Queue on MailQueue {
    waiting
    retrying
    givenUp
    oldestAt
  }
`)

const SERVICE = graphql(
  `
    query Service {
      mailQueue {
        ...Queue
      }
      plans {
        accountCount
        plan {
          id
          name
          maxBytes
          maxFileSize
          maxWorkspaces
          maxWorkspaceBytes
        }
      }
      operators {
        bySetting
        appointedAt
        appointedBy {
          id
          name
          email
        }
        account {
          id
          name
          email
        }
      }
    }
  `,
  [QUEUE],
)

const RETRY = graphql(`
  mutation RetryMails {
    retryMails {
      count
    }
  }
`)

/** Mails that wait, plans, and who else is an operator. */
export function Service() {
  const [{ data, error }, reload] = useKeptQuery({ query: SERVICE, requestPolicy: 'cache-and-network' })
  const refresh = () => reload({ requestPolicy: 'network-only' })
  const retry = async () => {
    const { retryMails } = await mutate(RETRY, {})
    toast({ message: text('mailsRetried', { count: retryMails?.count ?? 0 }) })
    refresh()
  }
  return (
    <AdminScreen error={error} retry={refresh}>
      {!data ? (
        <Skeleton />
      ) : (
        <>
          <Section
            title={text('mails')}
            actions={
              data.mailQueue.givenUp > 0 && (
                <Button onPress={() => void retry().catch(toastError)}>
                  <Mail />
                  {text('retryMails')}
                </Button>
              )
            }
          >
            <dl className="figures">
              <div>
                <dt>{text('waiting')}</dt>
                <dd>{formatNumber(data.mailQueue.waiting)}</dd>
              </div>
              <div>
                <dt>{text('retrying')}</dt>
                <dd>{formatNumber(data.mailQueue.retrying)}</dd>
              </div>
              <div>
                <dt>{text('givenUp')}</dt>
                <dd>{formatNumber(data.mailQueue.givenUp)}</dd>
              </div>
              {data.mailQueue.oldestAt && (
                <div>
                  <dt>{text('oldest')}</dt>
                  <dd>{formatExact(data.mailQueue.oldestAt)}</dd>
                </div>
              )}
            </dl>
          </Section>
          <Section title={text('plans')} hint={text('plansHint')}>
            <Rows label={text('plans')}>
              {data.plans.map(({ plan, accountCount }) => (
                <li key={plan.id}>
                  <div className="grow">
                    <p className="title">
                      {plan.name}
                      <span className="chip soft">{text('planUse', { count: accountCount })}</span>
                    </p>
                    <p className="sub">
                      {text('planFacts', {
                        bytes: formatBytes(plan.maxBytes),
                        file: formatBytes(plan.maxFileSize),
                        workspaces: plan.maxWorkspaces,
                        workspace: formatBytes(plan.maxWorkspaceBytes),
                      })}
                    </p>
                  </div>
                </li>
              ))}
            </Rows>
          </Section>
          <Section title={text('operators')} hint={text('operatorsHint')}>
            <Rows label={text('operators')}>
              {data.operators.map(({ account, bySetting, appointedBy, appointedAt }) => (
                <li key={account.id}>
                  <Avatar name={account.name} email={account.email} />
                  <div className="grow">
                    <p className="title">
                      <Link href={`/admin/accounts/${encodeURIComponent(account.id)}`}>
                        <bdi>{account.name || account.email}</bdi>
                      </Link>
                    </p>
                    <p className="sub">
                      {bySetting
                        ? text('bySetting')
                        : text('appointed', {
                            name: appointedBy?.name || appointedBy?.email || text('somebody'),
                            when: appointedAt ? formatExact(appointedAt) : '',
                          })}
                    </p>
                  </div>
                </li>
              ))}
            </Rows>
          </Section>
        </>
      )}
    </AdminScreen>
  )
}
