import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useKeptQuery } from '../../graphql/kept.ts'
import { mutate } from '../../graphql/run.ts'
import { formatBytes, formatExact, formatNumber } from '../../i18n/format.ts'
import { Avatar } from '../../parts/avatar.tsx'
import { Button, LinkButton } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Figures } from '../../parts/figures.tsx'
import { SelectField } from '../../parts/form.tsx'
import { UserX } from '../../parts/icons.ts'
import { personName } from '../../parts/person-name.ts'
import { Section } from '../../parts/screen.tsx'
import { EmptyState, Skeleton } from '../../parts/states.tsx'
import { toast, toastError } from '../../parts/toasts.tsx'
import { roleName } from '../workspaces/roles.ts'
import { APPOINT, type Details, DISMISS, ONE, UPDATE } from './account-documents.ts'
import { AccountLimits } from './account-limits.tsx'
import { AdminScreen } from './admin-screen.tsx'
import { DeletePerson } from './delete-person.tsx'
import { text } from './text.ts'

/** One account: storage use, plan, and whether it may sign in. */
export function Account() {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const [{ data, error }, reload] = useKeptQuery({
    query: ONE,
    variables: { id },
    requestPolicy: 'cache-and-network',
  })
  const account = data?.node?.__typename === 'Account' ? data.node : null
  return (
    <AdminScreen
      title={account ? personName(account) : undefined}
      error={error}
      retry={() => reload({ requestPolicy: 'network-only' })}
    >
      {!data ? (
        <Skeleton />
      ) : account ? (
        <>
          <About account={account} />
          <Section title={text('plan')} hint={`${chosenBy(account.planBy)} ${text('planHint')}`}>
            <SelectField
              isBare
              label={text('plan')}
              options={[
                ...data.operator.plans
                  .filter(
                    ({ plan, retiredAt }) => retiredAt === null || plan.id === account.plan.id,
                  )
                  .map(({ plan }) => [plan.id, plan.name] as const),
                ...(account.planBy === 'OPERATOR' ? [[AUTOMATIC, text('automatic')] as const] : []),
              ]}
              value={account.plan.id}
              onChange={({ target }) => void setPlan(account, target.value).catch(toastError)}
            />
          </Section>
          <AccountLimits
            account={account}
            refresh={() => reload({ requestPolicy: 'network-only' })}
          />
          <Rights account={account} isMe={account.person.id === data.me.person.id} />
          {!account.operator?.bySetting && account.person.id !== data.me.person.id && (
            <DeletePerson account={account} />
          )}
        </>
      ) : (
        <EmptyState icon={UserX} title={text('missing')} hint={text('missingHint')}>
          <LinkButton href="/admin">{text('accounts')}</LinkButton>
        </EmptyState>
      )}
    </AdminScreen>
  )
}

/** Option of the plan list that removes the operator's choice. No plan has this id. */
const AUTOMATIC = 'automatic'

const chosenBy = (by: Details['planBy']) =>
  text(by === 'OPERATOR' ? 'byOperator' : by === 'CLAIM' ? 'byClaim' : 'byDefault')

async function setPlan({ id }: Details, plan: string): Promise<void> {
  const { operatorUpdateAccount } = await mutate(UPDATE, {
    input: { account: id, ...(plan === AUTOMATIC ? { automaticPlan: true } : { plan }) },
  })
  toast({ message: text('planIs', { plan: operatorUpdateAccount?.account.plan.name ?? plan }) })
}

function About({ account }: { account: Details }) {
  const { usage } = account
  const figures: [label: string, value: string][] = [
    [text('since'), formatExact(account.createdAt)],
    [text('files'), formatNumber(usage.fileCount)],
    [text('folders'), formatNumber(usage.folderCount)],
    [text('kept'), formatBytes(usage.keptBytes)],
    [text('sessions'), formatNumber(account.sessionCount)],
    [text('keys'), formatNumber(account.apiKeyCount)],
    [text('shares'), formatNumber(account.shareCount)],
  ]
  const share = usage.maxBytes > 0 ? Math.min(1, usage.usedBytes / usage.maxBytes) : 1
  const used = text('used', {
    used: formatBytes(usage.usedBytes),
    max: formatBytes(usage.maxBytes),
  })
  return (
    <Section title={text('about')}>
      <div className="who">
        <Avatar name={account.name} email={account.email} />
        <div>
          <strong dir="auto">{personName(account)}</strong>
          <p className="chips">
            <span className="soft" dir="auto">
              {account.email}
            </span>
            {!account.emailVerified && <span className="chip wrong">{text('unverified')}</span>}
            {account.operator && <span className="chip">{text('operator')}</span>}
            {account.status === 'SUSPENDED' && (
              <span className="chip wrong">{text('suspended')}</span>
            )}
            {account.usage.isOver && <span className="chip wrong">{text('overQuota')}</span>}
          </p>
        </div>
      </div>
      <div className="usage">
        <progress max={1} value={share} aria-label={used} />
        <p aria-hidden>{used}</p>
      </div>
      <Figures of={figures} />
      <dl className="figures">
        <div>
          <dt>{text('identities')}</dt>
          {account.identities.map(({ provider, email }) => (
            <dd key={`${provider} ${email}`} dir="auto">
              {provider}: {email}
            </dd>
          ))}
        </div>
        {account.workspaces.length > 0 && (
          <div>
            <dt>{text('workspaces')}</dt>
            {account.workspaces.map(({ workspaceId, name, role }) => (
              <dd key={workspaceId}>
                <bdi>{name}</bdi> <span className="soft">({roleName(role)})</span>
              </dd>
            ))}
          </div>
        )}
      </dl>
    </Section>
  )
}

function Rights({ account, isMe }: { account: Details; isMe: boolean }) {
  const [isChanging, setChanging] = useState(false)
  const [isSuspending, setSuspending] = useState(false)
  const { id, operator } = account
  const name = personName(account)
  const appoint = () => mutate(APPOINT, { input: { account: id } })
  const dismiss = () => mutate(DISMISS, { input: { account: id } })
  const setStatus = async (status: Details['status']) => {
    await mutate(UPDATE, { input: { account: id, status } })
    toast({ message: text(status === 'SUSPENDED' ? 'isSuspended' : 'isRestored', { name }) })
  }
  return (
    <>
      <Section
        title={text('operator')}
        hint={text(operator?.bySetting ? 'bySettingHint' : 'operatorHint')}
      >
        {!operator?.bySetting && (
          <div>
            <Button isDisabled={account.status === 'SUSPENDED'} onPress={() => setChanging(true)}>
              {text(operator ? 'dismiss' : 'appoint')}
            </Button>
          </div>
        )}
        {isChanging && (
          <Confirm
            title={text(operator ? 'dismissTitle' : 'appointTitle', { name })}
            isOpen
            label={text(operator ? 'dismiss' : 'appoint')}
            onClose={() => setChanging(false)}
            onConfirm={() => void (operator ? dismiss() : appoint()).catch(toastError)}
          >
            <p>{text(operator ? 'dismissWarning' : 'appointWarning')}</p>
          </Confirm>
        )}
      </Section>
      <Section
        title={text('access')}
        hint={text(
          operator?.bySetting ? 'neverSuspended' : isMe ? 'suspendedByOthers' : 'suspendHint',
        )}
      >
        <div>
          {account.status === 'SUSPENDED' ? (
            <Button look="primary" onPress={() => void setStatus('ACTIVE').catch(toastError)}>
              {text('restore')}
            </Button>
          ) : (
            !(operator?.bySetting || isMe) && (
              <Button look="danger" onPress={() => setSuspending(true)}>
                {text('suspend')}
              </Button>
            )
          )}
        </div>
        {isSuspending && (
          <Confirm
            title={text('suspendTitle')}
            isOpen
            label={text('suspend')}
            onClose={() => setSuspending(false)}
            onConfirm={() => void setStatus('SUSPENDED').catch(toastError)}
          >
            <p>{text('suspendWarning', { name })}</p>
          </Confirm>
        )}
      </Section>
    </>
  )
}
