import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql } from '../../graphql/graphql.ts'
import { mutate } from '../../graphql/run.ts'
import { formatExact } from '../../i18n/format.ts'
import { Button } from '../../parts/button.tsx'
import { CheckBox, FormDialog, TextField } from '../../parts/form.tsx'
import { personName } from '../../parts/person-name.ts'
import { Section } from '../../parts/screen.tsx'
import { toast } from '../../parts/toasts.tsx'
import type { Details } from './account-documents.ts'
import { text } from './text.ts'

const DELETE_PERSON = graphql(`
  mutation OperatorDeleteAccount($input: OperatorDeleteAccountInput!) {
    operatorDeleteAccount(input: $input) {
      deletedId
      driveExpiresAt
    }
  }
`)

/** Deletes an account after the operator has typed its e-mail address. */
export function DeletePerson({ account }: { account: Details }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Section title={text('deleteAccount')} hint={text('deleteAccountHint')}>
      <div>
        <Button look="danger" onPress={() => setOpen(true)}>
          {text('deleteAccount')}
        </Button>
      </div>
      {isOpen && <DeleteDialog account={account} onClose={() => setOpen(false)} />}
    </Section>
  )
}

function DeleteDialog({ account, onClose }: { account: Details; onClose: () => void }) {
  const { id, email } = account
  const [typed, setTyped] = useState('')
  const navigate = useNavigate()
  return (
    <FormDialog
      title={text('deleteTitle', { name: personName(account) })}
      label={text('deleteAccount')}
      isDangerous
      isDisabled={typed.trim().toLowerCase() !== email.toLowerCase()}
      onClose={onClose}
      onSubmit={async form => {
        const input = { account: id, email: typed, deleteFiles: form.get('files') === 'delete' }
        const { operatorDeleteAccount } = await mutate(DELETE_PERSON, { input })
        const until = operatorDeleteAccount?.driveExpiresAt
        toast({
          message: until
            ? text('isDeletedUntil', { email, when: formatExact(until) })
            : text('isDeleted', { email }),
        })
        await navigate({ to: '/admin' })
      }}
    >
      <p>{text('deleteWarning')}</p>
      <fieldset>
        <legend>{text('theirFiles')}</legend>
        <CheckBox
          type="radio"
          name="files"
          value="keep"
          defaultChecked
          label={text('filesWait')}
          hint={text('filesWaitHint')}
        />
        <CheckBox
          type="radio"
          name="files"
          value="delete"
          label={text('filesGo')}
          hint={text('filesGoHint')}
        />
      </fieldset>
      <TextField
        label={text('typeAddress', { email })}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        dir="ltr"
      />
    </FormDialog>
  )
}
