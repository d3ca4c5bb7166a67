import { useState } from 'react'
import { graphql } from '../../graphql/graphql.ts'
import { mutate } from '../../graphql/run.ts'
import { leaveAfter } from '../../graphql/session.ts'
import { CheckBox, FormDialog, TextField } from '../../parts/form.tsx'
import { text } from './text.ts'

const DELETE_ACCOUNT = graphql(`
  mutation DeleteAccount($input: DeleteAccountInput!) {
    deleteAccount(input: $input) {
      deletedId
      driveExpiresAt
    }
  }
`)

/**
 * Deletes the account after the person has typed its email address. The service refuses if a
 * workspace would be left without an owner.
 */
export function DeleteAccount({ email, onClose }: { email: string; onClose: () => void }) {
  const [typed, setTyped] = useState('')
  return (
    <FormDialog
      title={text('deleteAccount')}
      label={text('deleteForEver')}
      isDangerous
      isDisabled={typed.trim().toLowerCase() !== email.toLowerCase()}
      onClose={onClose}
      onSubmit={form => {
        const input = { deleteUserData: form.get('files') === 'delete' }
        return leaveAfter(async () => {
          const { deleteAccount } = await mutate(DELETE_ACCOUNT, { input })
          const kept = deleteAccount?.driveExpiresAt
          return `/account-deleted${kept ? `?${new URLSearchParams({ kept })}` : ''}`
        })
      }}
    >
      <p>{text('deleteWarning')}</p>
      <fieldset>
        <legend>{text('yourFiles')}</legend>
        <CheckBox
          type="radio"
          name="files"
          value="delete"
          defaultChecked
          label={text('filesGo')}
          hint={text('filesGoHint')}
        />
        <CheckBox
          type="radio"
          name="files"
          value="keep"
          label={text('filesWait')}
          hint={text('filesWaitHint')}
        />
      </fieldset>
      <TextField
        label={text('typeAddress', { email })}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        inputMode="email"
      />
    </FormDialog>
  )
}
