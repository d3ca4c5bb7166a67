import { useState } from 'react'
import { graphql } from '../graphql/graphql.ts'
import { mutate } from '../graphql/run.ts'
import { CheckBox, FormDialog, SelectField, TextField } from '../parts/form.tsx'
import { MAX_KEY_DESCRIPTION, MAX_KEY_NAME } from '../parts/limits.ts'
import { SecretDialog } from '../parts/secret-dialog.tsx'
import { type Scope, scopeText } from './scopes.ts'
import { text } from './text.ts'

const CREATE_KEY = graphql(`
  mutation CreateKey($input: CreateApiKeyInput!) {
    createApiKey(input: $input) {
      secret
    }
  }
`)

const lifetimes = [
  ['30d', text('days30')],
  ['90d', text('days90')],
  ['1y', text('year')],
  ['', text('endlessLong')],
] as const

interface NewKeyProps {
  scopes: readonly Scope[]
  workspace: string | null
  /**
   * Called after the person has seen the secret. A refetch of the keys may fail and would close the
   * dialog.
   */
  onCreated: () => void
  onClose: () => void
}

/** Asks for the name and scopes of a new key, and shows its secret once. */
export function NewKey({ scopes, workspace, onCreated, onClose }: NewKeyProps) {
  const [chosen, setChosen] = useState<readonly Scope[]>(scopes.slice(0, 1))
  const [secret, setSecret] = useState<string | null>(null)
  if (secret !== null) {
    const finish = () => {
      onClose()
      onCreated()
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
  return (
    <FormDialog
      title={text('create')}
      label={text('create')}
      isDisabled={chosen.length === 0}
      onClose={onClose}
      onDone={() => {}}
      onSubmit={async form => {
        const expiresIn = String(form.get('lifetime'))
        const { createApiKey } = await mutate(CREATE_KEY, {
          input: {
            name: String(form.get('name')).trim(),
            description: String(form.get('description')).trim(),
            scopes: [...chosen],
            ...(expiresIn ? { expiresIn } : {}),
            ...(workspace ? { workspace } : {}),
          },
        })
        setSecret(createApiKey?.secret ?? '')
      }}
    >
      <TextField
        label={text('name')}
        hint={text('nameHint')}
        name="name"
        required
        maxLength={MAX_KEY_NAME}
        autoFocus
      />
      <TextField label={text('description')} name="description" maxLength={MAX_KEY_DESCRIPTION} />
      <fieldset>
        <legend>{text('scopes')}</legend>
        {scopes.map(scope => (
          <CheckBox
            key={scope}
            label={scopeText(scope)}
            checked={chosen.includes(scope)}
            onChange={({ target }) =>
              setChosen(
                target.checked ? [...chosen, scope] : chosen.filter(other => other !== scope),
              )
            }
          />
        ))}
      </fieldset>
      <SelectField
        label={text('lifetime')}
        name="lifetime"
        options={lifetimes}
        defaultValue="90d"
      />
    </FormDialog>
  )
}
