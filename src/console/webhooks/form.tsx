import { useState } from 'react'
import { mutate } from '../graphql/run.ts'
import { CheckBox, FormDialog, SelectField, TextField } from '../parts/form.tsx'
import { MAX_WEBHOOK_URL } from '../parts/limits.ts'
import { SecretDialog } from '../parts/secret-dialog.tsx'
import { CREATE_WEBHOOK, type EventKind, UPDATE_WEBHOOK, type Webhook } from './documents.ts'
import { groupsOf, type Source, typeOf } from './kinds.ts'
import { text } from './text.ts'

interface FormProps {
  /** The webhook to edit; null for a new one. */
  webhook: Webhook | null
  /** Id of the workspace; null for a webhook of the person. */
  workspace: string | null
  /** Called when the dialog is finished, after the person has seen any secret. */
  onDone: () => void
  onClose: () => void
}

/** Asks for the URL and the events, and shows the secret of a new webhook once. */
export function WebhookForm({ webhook, workspace, onDone, onClose }: FormProps) {
  const [source, setSource] = useState<Source>(
    workspace !== null ? 'workspace' : webhook?.source === 'PERSON' ? 'person' : 'own',
  )
  const [chosen, setChosen] = useState<ReadonlySet<EventKind> | null>(
    webhook?.kinds ? new Set(webhook.kinds) : null,
  )
  const [secret, setSecret] = useState<string | null>(null)
  if (secret !== null) {
    const finish = () => {
      onClose()
      onDone()
    }
    return (
      <SecretDialog
        title={text('made')}
        hint={text('onceHint')}
        label={text('secret')}
        secret={secret}
        done={text('done')}
        onClose={finish}
      />
    )
  }
  const submit = async (form: FormData) => {
    const given = { url: String(form.get('url')).trim(), kinds: chosen && [...chosen] }
    if (webhook) {
      await mutate(UPDATE_WEBHOOK, { input: { webhook: webhook.id, ...given } })
      onClose()
      return
    }
    const of =
      workspace === null
        ? { source: source === 'person' ? ('PERSON' as const) : ('DRIVE' as const) }
        : { workspace }
    const { createWebhook } = await mutate(CREATE_WEBHOOK, { input: { ...of, ...given } })
    setSecret(createWebhook?.secret ?? '')
  }
  return (
    <FormDialog
      title={text(webhook ? 'edit' : 'create')}
      label={text(webhook ? 'save' : 'create')}
      isDisabled={chosen?.size === 0}
      onClose={onClose}
      onDone={() => {}}
      onSubmit={submit}
    >
      <TextField
        label={text('url')}
        hint={text('urlHint')}
        name="url"
        type="url"
        dir="ltr"
        placeholder="https://"
        defaultValue={webhook?.url}
        required
        maxLength={MAX_WEBHOOK_URL}
        autoFocus
      />
      {!webhook && workspace === null && (
        <SelectField
          label={text('source')}
          value={source}
          options={[
            ['own', text('own')],
            ['person', text('person')],
          ]}
          onChange={({ target }) => {
            setSource(target.value as Source)
            setChosen(null)
          }}
        />
      )}
      <fieldset>
        <legend>{text('events')}</legend>
        <CheckBox
          type="radio"
          name="which"
          label={text('all')}
          hint={text('allHint')}
          checked={chosen === null}
          onChange={() => setChosen(null)}
        />
        <CheckBox
          type="radio"
          name="which"
          label={text('some')}
          checked={chosen !== null}
          onChange={() => setChosen(new Set())}
        />
      </fieldset>
      {chosen && <Kinds source={source} chosen={chosen} onChoose={setChosen} />}
    </FormDialog>
  )
}

interface KindsProps {
  source: Source
  chosen: ReadonlySet<EventKind>
  onChoose: (chosen: ReadonlySet<EventKind>) => void
}

/** Event types as checkboxes, under the names that the receiver gets. */
const Kinds = ({ source, chosen, onChoose }: KindsProps) =>
  groupsOf[source].map(([group, kinds]) => (
    <fieldset key={group} className="webhook-kinds">
      <legend>{text(group)}</legend>
      {kinds.map(kind => (
        <CheckBox
          key={kind}
          label={<code>{typeOf(kind)}</code>}
          checked={chosen.has(kind)}
          onChange={({ target }) =>
            onChoose(
              new Set(
                target.checked ? [...chosen, kind] : [...chosen].filter(other => other !== kind),
              ),
            )
          }
        />
      ))}
    </fieldset>
  ))
