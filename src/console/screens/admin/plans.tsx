import { useState } from 'react'
import { graphql, type ResultOf } from '../../graphql/graphql.ts'
import { useKeptQuery } from '../../graphql/kept.ts'
import { mutate } from '../../graphql/run.ts'
import { formatBytes } from '../../i18n/format.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { FormDialog, TextField } from '../../parts/form.tsx'
import { Ellipsis, Plus } from '../../parts/icons.ts'
import { MAX_PLAN_ID, MAX_PLAN_NAME } from '../../parts/limits.ts'
import { Menu, type MenuEntry } from '../../parts/menu.tsx'
import { Rows } from '../../parts/rows.tsx'
import { Section } from '../../parts/screen.tsx'
import { Skeleton } from '../../parts/states.tsx'
import { toast, toastError } from '../../parts/toasts.tsx'
import { AdminScreen } from './admin-screen.tsx'
import { initialLimits, type Limit, LimitFields, readLimits } from './limits.tsx'
import { text } from './text.ts'

const PLANS = graphql(`
  query Plans {
    operator {
      plans {
        accountCount
        isDefault
        retiredAt
        plan {
          id
          name
          maxFileSize
          maxBytes
          maxFiles
          maxFolders
          maxNotes
          maxLinks
          maxApiKeys
          maxWorkspaces
          maxWorkspaceBytes
          maxWorkspaceFiles
          maxWorkspaceFolders
          maxWorkspaceMembers
          maxWorkspaceApiKeys
          maxWorkspaceInvites
        }
      }
    }
  }
`)

const CREATE = graphql(`
  mutation CreatePlan($input: OperatorCreatePlanInput!) {
    operatorCreatePlan(input: $input) {
      plan {
        accountCount
      }
    }
  }
`)

const UPDATE = graphql(`
  mutation UpdatePlan($input: OperatorUpdatePlanInput!) {
    operatorUpdatePlan(input: $input) {
      plan {
        accountCount
      }
    }
  }
`)

const RETIRE = graphql(`
  mutation RetirePlan($input: OperatorRetirePlanInput!) {
    operatorRetirePlan(input: $input) {
      plan {
        accountCount
      }
    }
  }
`)

const RESTORE = graphql(`
  mutation RestorePlan($input: OperatorRestorePlanInput!) {
    operatorRestorePlan(input: $input) {
      plan {
        accountCount
      }
    }
  }
`)

const SET_DEFAULT = graphql(`
  mutation SetDefaultPlan($input: OperatorSetDefaultPlanInput!) {
    operatorSetDefaultPlan(input: $input) {
      plan {
        accountCount
      }
    }
  }
`)

const DELETE = graphql(`
  mutation DeletePlan($input: OperatorDeletePlanInput!) {
    operatorDeletePlan(input: $input) {
      deletedId
    }
  }
`)

type Use = ResultOf<typeof PLANS>['operator']['plans'][number]

const limitsOf = ({ plan }: Use): Limit[] => [
  { name: 'MAX_BYTES', value: plan.maxBytes },
  { name: 'MAX_FILE_SIZE', value: plan.maxFileSize },
  { name: 'MAX_FILES', value: plan.maxFiles },
  { name: 'MAX_FOLDERS', value: plan.maxFolders },
  { name: 'MAX_NOTES', value: plan.maxNotes },
  { name: 'MAX_LINKS', value: plan.maxLinks },
  { name: 'MAX_API_KEYS', value: plan.maxApiKeys },
  { name: 'MAX_WORKSPACES', value: plan.maxWorkspaces },
  { name: 'MAX_WORKSPACE_BYTES', value: plan.maxWorkspaceBytes },
  { name: 'MAX_WORKSPACE_FILES', value: plan.maxWorkspaceFiles },
  { name: 'MAX_WORKSPACE_FOLDERS', value: plan.maxWorkspaceFolders },
  { name: 'MAX_WORKSPACE_MEMBERS', value: plan.maxWorkspaceMembers },
  { name: 'MAX_WORKSPACE_API_KEYS', value: plan.maxWorkspaceApiKeys },
  { name: 'MAX_WORKSPACE_INVITES', value: plan.maxWorkspaceInvites },
]

/** The plans: limits, number of accounts, and the default for new accounts. */
export function Plans() {
  const [{ data, error }, reload] = useKeptQuery({
    query: PLANS,
    requestPolicy: 'cache-and-network',
  })
  const [isMaking, setMaking] = useState(false)
  const refresh = () => reload({ requestPolicy: 'network-only' })
  const model = data?.operator.plans.find(({ isDefault }) => isDefault) ?? data?.operator.plans[0]
  return (
    <AdminScreen error={error} retry={refresh}>
      {!data ? (
        <Skeleton />
      ) : (
        <Section
          title={text('plans')}
          hint={text('plansHint')}
          actions={
            <Button onPress={() => setMaking(true)}>
              <Plus />
              {text('newPlan')}
            </Button>
          }
        >
          <Rows label={text('plans')}>
            {data.operator.plans.map(use => (
              <PlanRow key={use.plan.id} use={use} refresh={refresh} />
            ))}
          </Rows>
          {isMaking && model && (
            <PlanForm like={model} onClose={() => setMaking(false)} refresh={refresh} />
          )}
        </Section>
      )}
    </AdminScreen>
  )
}

function PlanRow({ use, refresh }: { use: Use; refresh: () => void }) {
  const { plan, accountCount, isDefault, retiredAt } = use
  const [open, setOpen] = useState<'change' | 'delete' | null>(null)
  const input = { plan: plan.id }
  const run = (work: Promise<unknown>, message: string) =>
    void work.then(() => toast({ message }), toastError).then(refresh)
  const saved = text('planSaved', { name: plan.name })
  const entries: MenuEntry[] = [
    { id: 'change', label: text('changePlan'), run: () => setOpen('change') },
    ...(isDefault || retiredAt !== null
      ? []
      : [
          {
            id: 'default',
            label: text('makeDefault'),
            run: () => run(mutate(SET_DEFAULT, { input }), saved),
          },
        ]),
    ...(isDefault
      ? []
      : retiredAt === null
        ? [
            {
              id: 'retire',
              label: text('retire'),
              run: () => run(mutate(RETIRE, { input }), saved),
            },
          ]
        : [
            {
              id: 'restore',
              label: text('restorePlan'),
              run: () => run(mutate(RESTORE, { input }), saved),
            },
          ]),
    ...(isDefault || accountCount > 0
      ? []
      : [{ id: 'delete', label: text('deletePlan'), danger: true, run: () => setOpen('delete') }]),
  ]
  return (
    <li>
      <div className="grow">
        <p className="title">
          <bdi>{plan.name}</bdi>
          <span className="chip soft">{text('planUse', { count: accountCount })}</span>
          {isDefault && <span className="chip">{text('isDefault')}</span>}
          {retiredAt !== null && <span className="chip wrong">{text('retired')}</span>}
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
      <Menu
        label={text('planActions', { name: plan.name })}
        button={{ look: 'icon' }}
        entries={entries}
      >
        <Ellipsis />
      </Menu>
      {open === 'change' && (
        <PlanForm use={use} like={use} onClose={() => setOpen(null)} refresh={refresh} />
      )}
      {open === 'delete' && (
        <Confirm
          title={text('deletePlanTitle', { name: plan.name })}
          isOpen
          label={text('deletePlan')}
          onClose={() => setOpen(null)}
          onConfirm={() => run(mutate(DELETE, { input }), text('planDeleted', { name: plan.name }))}
        >
          <p>{text('deletePlanWarning')}</p>
        </Confirm>
      )}
    </li>
  )
}

interface PlanFormProps {
  /** The plan to edit; undefined for a new plan. */
  use?: Use
  /** The plan that prefills the limits. */
  like: Use
  onClose: () => void
  refresh: () => void
}

function PlanForm({ use, like, onClose, refresh }: PlanFormProps) {
  // The values from when the dialog opened, so that only edited fields are saved.
  const [initial] = useState(() => initialLimits(limitsOf(like)))
  const save = async (form: FormData) => {
    const name = String(form.get('name')).trim()
    const limits = readLimits(form, initial, false)
    await (use
      ? mutate(UPDATE, { input: { plan: use.plan.id, name, limits } })
      : mutate(CREATE, {
          input: { id: String(form.get('id')).trim(), name, like: like.plan.id, limits },
        }))
    toast({ message: text('planSaved', { name }) })
    refresh()
  }
  return (
    <FormDialog
      title={use ? text('changePlanTitle', { name: use.plan.name }) : text('newPlanTitle')}
      label={text(use ? 'save' : 'create')}
      onSubmit={save}
      onClose={onClose}
    >
      {!use && (
        <TextField
          name="id"
          label={text('planId')}
          hint={text('planIdHint')}
          required
          maxLength={MAX_PLAN_ID}
          pattern="[a-z0-9][a-z0-9\-]*"
        />
      )}
      <TextField
        name="name"
        label={text('planName')}
        defaultValue={use?.plan.name}
        required
        maxLength={MAX_PLAN_NAME}
      />
      <p className="hint">{text('valueHint')}</p>
      {use && <p className="hint">{text('shrinkHint')}</p>}
      <LimitFields initial={initial} />
    </FormDialog>
  )
}
