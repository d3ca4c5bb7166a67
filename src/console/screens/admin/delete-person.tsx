import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql } from '../../graphql/graphql.ts'
import { mutate } from '../../graphql/run.ts'
import { formatExact } from '../../i18n/format.ts'
import { AccountDeletion } from '../../parts/account-deletion.tsx'
import { Button } from '../../parts/button.tsx'
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
  const navigate = useNavigate()
  return (
    <AccountDeletion
      email={email}
      title={text('deleteTitle', { name: personName(account) })}
      label={text('deleteAccount')}
      warning={text('deleteWarning')}
      legend={text('theirFiles')}
      choices={[
        { value: 'keep', label: text('filesWait'), hint: text('filesWaitHint') },
        { value: 'delete', label: text('filesGo'), hint: text('filesGoHint') },
      ]}
      addressLabel={text('typeAddress', { email })}
      onClose={onClose}
      onSubmit={async deleteFiles => {
        const input = { account: id, email, deleteFiles }
        const { operatorDeleteAccount } = await mutate(DELETE_PERSON, { input })
        const until = operatorDeleteAccount?.driveExpiresAt
        toast({
          message: until
            ? text('isDeletedUntil', { email, when: formatExact(until) })
            : text('isDeleted', { email }),
        })
        await navigate({ to: '/admin' })
      }}
    />
  )
}
