import { useState } from 'react'
import { graphql } from '../../graphql/graphql.ts'
import { mutate } from '../../graphql/run.ts'
import { CheckBox, FormDialog, TextArea, TextField } from '../../parts/form.tsx'
import { MAX_EMAIL, MAX_MESSAGE } from '../../parts/limits.ts'
import { toast } from '../../parts/toasts.tsx'
import { invitable, roleHint, roleName } from './roles.ts'
import { text } from './text.ts'

/** Invites an email address, or renews its invite. */
export const CREATE_INVITE = graphql(`
  mutation CreateInvite($input: CreateInviteInput!) {
    createInvite(input: $input) {
      invite {
        id
        email
        role
        expiresAt
      }
      workspace {
        id
        invites(first: 100) {
          nodes {
            id
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  }
`)

interface InvitePersonProps {
  /** Id of the workspace. */
  workspace: string
  onInvited: () => void
  onClose: () => void
}

/** Asks for the email address and role of an invite. */
export function InvitePerson({ workspace, onInvited, onClose }: InvitePersonProps) {
  const [role, setRole] = useState(invitable[0] ?? 'EDITOR')
  return (
    <FormDialog
      title={text('invite')}
      label={text('send')}
      onClose={onClose}
      onSubmit={async form => {
        const email = String(form.get('email')).trim()
        await mutate(CREATE_INVITE, {
          input: { workspace, email, role, message: String(form.get('message')) },
        })
        onInvited()
        toast({ message: text('sent', { email }) })
      }}
    >
      <TextField
        label={text('address')}
        hint={text('addressHint')}
        type="email"
        name="email"
        required
        maxLength={MAX_EMAIL}
        autoFocus
      />
      <fieldset>
        <legend>{text('role')}</legend>
        {invitable.map(one => (
          <CheckBox
            key={one}
            type="radio"
            name="role"
            label={roleName(one)}
            hint={roleHint(one)}
            checked={role === one}
            onChange={() => setRole(one)}
          />
        ))}
      </fieldset>
      <TextArea
        label={text('message')}
        hint={text('messageHint')}
        name="message"
        maxLength={MAX_MESSAGE}
      />
    </FormDialog>
  )
}
