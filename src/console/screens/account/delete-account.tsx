import { graphql } from '../../graphql/graphql.ts'
import { mutate } from '../../graphql/run.ts'
import { leaveAfter } from '../../graphql/session.ts'
import { AccountDeletion } from '../../parts/account-deletion.tsx'
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
 * Deletes the account after the person has typed its e-mail address. The service refuses if a
 * workspace would be left without an owner.
 */
export const DeleteAccount = ({ email, onClose }: { email: string; onClose: () => void }) => (
  <AccountDeletion
    email={email}
    title={text('deleteAccount')}
    label={text('deleteForEver')}
    warning={text('deleteWarning')}
    legend={text('yourFiles')}
    choices={[
      { value: 'delete', label: text('filesGo'), hint: text('filesGoHint') },
      { value: 'keep', label: text('filesWait'), hint: text('filesWaitHint') },
    ]}
    addressLabel={text('typeAddress', { email })}
    onClose={onClose}
    onSubmit={deleteUserData =>
      leaveAfter(async () => {
        const { deleteAccount } = await mutate(DELETE_ACCOUNT, { input: { deleteUserData } })
        const kept = deleteAccount?.driveExpiresAt
        return `/account-deleted${kept ? `?${new URLSearchParams({ kept })}` : ''}`
      })
    }
  />
)
