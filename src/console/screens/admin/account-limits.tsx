import { useState } from 'react'
import { graphql, type ResultOf } from '../../graphql/graphql.ts'
import { mutate } from '../../graphql/run.ts'
import { Button } from '../../parts/button.tsx'
import { personName } from '../../parts/person-name.ts'
import { Section } from '../../parts/screen.tsx'
import { toast } from '../../parts/toasts.tsx'
import { APPLIED_LIMIT, type LimitInput, limitLabel, limitText, OwnLimits } from './limits.tsx'
import { text } from './text.ts'

const SET_OF_ACCOUNT = graphql(
  `
    mutation SetAccountLimits($input: OperatorUpdateAccountInput!) {
      operatorUpdateAccount(input: $input) {
        account {
          id
          limits {
            ...LimitInForce
          }
          workspaces {
            workspaceId
            limits {
              ...LimitInForce
            }
          }
          usage {
            maxBytes
            isOver
          }
        }
      }
    }
  `,
  [APPLIED_LIMIT],
)

const SET_OF_WORKSPACE = graphql(
  `
    mutation SetWorkspaceLimits($input: OperatorSetWorkspaceLimitsInput!) {
      operatorSetWorkspaceLimits(input: $input) {
        workspaceId
        limits {
          ...LimitInForce
        }
      }
    }
  `,
  [APPLIED_LIMIT],
)

type Limits = readonly ResultOf<typeof APPLIED_LIMIT>[]

interface Limited {
  id: string
  name: string
  email: string
  limits: Limits
  workspaces: readonly { workspaceId: string; name: string; role: string; limits: Limits }[]
}

/** The limits of an account and of its workspaces, with the source of each. */
export function AccountLimits({ account, refresh }: { account: Limited; refresh: () => void }) {
  const [open, setOpen] = useState<string | null>(null)
  const close = () => setOpen(null)
  const saving = async (work: Promise<unknown>) => {
    await work
    toast({ message: text('limitsSaved') })
    refresh()
  }
  const ofAccount = (limits: LimitInput[]) =>
    saving(mutate(SET_OF_ACCOUNT, { input: { account: account.id, limits } }))
  const ofWorkspace = (workspace: string) => (limits: LimitInput[]) =>
    saving(mutate(SET_OF_WORKSPACE, { input: { workspace, limits } }))
  return (
    <Section title={text('limits')} hint={text('limitsHint')}>
      <LimitList limits={account.limits} />
      <div>
        <Button onPress={() => setOpen(account.id)}>{text('changeLimits')}</Button>
      </div>
      {open === account.id && (
        <OwnLimits
          title={text('limitsOf', { name: personName(account) })}
          limits={account.limits}
          own="ACCOUNT"
          otherwise={account.limits.map(({ name, ofPlan }) => ({ name, value: ofPlan }))}
          onSave={ofAccount}
          onClose={close}
        />
      )}
      {account.workspaces
        .filter(({ role }) => role === 'OWNER')
        .map(({ workspaceId, name, limits }) => (
          <div key={workspaceId}>
            <Button onPress={() => setOpen(workspaceId)}>{text('limitsOf', { name })}</Button>
            {open === workspaceId && (
              <OwnLimits
                title={text('limitsOf', { name })}
                limits={limits}
                own="WORKSPACE"
                otherwise={account.limits}
                onSave={ofWorkspace(workspaceId)}
                onClose={close}
              />
            )}
          </div>
        ))}
    </Section>
  )
}

const LimitList = ({ limits }: { limits: Limits }) => (
  <dl className="figures">
    {limits.map(limit => (
      <div key={limit.name}>
        <dt>{limitLabel(limit.name)}</dt>
        <dd>
          {limitText(limit)}{' '}
          {limit.from !== 'PLAN' && <span className="chip">{text('ownLimit')}</span>}
        </dd>
      </div>
    ))}
  </dl>
)
