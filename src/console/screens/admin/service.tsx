import { Link } from '@tanstack/react-router'
import { graphql } from '../../graphql/graphql.ts'
import { useKeptQuery } from '../../graphql/kept.ts'
import { mutate } from '../../graphql/run.ts'
import { formatExact, formatNumber } from '../../i18n/format.ts'
import { MaintenanceSection } from '../../maintenance/section.tsx'
import { Avatar } from '../../parts/avatar.tsx'
import { Button } from '../../parts/button.tsx'
import { Figures } from '../../parts/figures.tsx'
import { Mail } from '../../parts/icons.ts'
import { personName } from '../../parts/person-name.ts'
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
      operator {
        mailQueue {
          ...Queue
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
    }
  `,
  [QUEUE],
)

const RETRY = graphql(`
  mutation RetryMails {
    operatorRetryMails {
      count
    }
  }
`)

/** The mail queue and the list of operators. */
export function Service() {
  const [{ data, error }, reload] = useKeptQuery({
    query: SERVICE,
    requestPolicy: 'cache-and-network',
  })
  const refresh = () => reload({ requestPolicy: 'network-only' })
  const retry = async () => {
    const { operatorRetryMails } = await mutate(RETRY, {})
    toast({ message: text('mailsRetried', { count: operatorRetryMails?.count ?? 0 }) })
    refresh()
  }
  return (
    <AdminScreen error={error} retry={refresh}>
      {!data ? (
        <Skeleton />
      ) : (
        <>
          <MaintenanceSection />
          <Section
            title={text('mails')}
            actions={
              data.operator.mailQueue.givenUp > 0 && (
                <Button onPress={() => void retry().catch(toastError)}>
                  <Mail />
                  {text('retryMails')}
                </Button>
              )
            }
          >
            <Figures
              of={[
                [text('waiting'), formatNumber(data.operator.mailQueue.waiting)],
                [text('retrying'), formatNumber(data.operator.mailQueue.retrying)],
                [text('givenUp'), formatNumber(data.operator.mailQueue.givenUp)],
                ...(data.operator.mailQueue.oldestAt
                  ? [[text('oldest'), formatExact(data.operator.mailQueue.oldestAt)] as const]
                  : []),
              ]}
            />
          </Section>
          <Section title={text('operators')} hint={text('operatorsHint')}>
            <Rows label={text('operators')}>
              {data.operator.operators.map(({ account, bySetting, appointedBy, appointedAt }) => (
                <li key={account.id}>
                  <Avatar name={account.name} email={account.email} />
                  <div className="grow">
                    <p className="title">
                      <Link to="/admin/accounts/$id" params={{ id: account.id }}>
                        <bdi>{personName(account)}</bdi>
                      </Link>
                    </p>
                    <p className="sub">
                      {bySetting
                        ? text('bySetting')
                        : text('appointed', {
                            name: appointedBy ? personName(appointedBy) : text('somebody'),
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
