import { FormDialog, TextField } from '../../parts/form.tsx'
import { MAX_PASSWORD } from '../../parts/limits.ts'
import { personName } from '../../parts/person-name.ts'
import type { Locked } from './opening.ts'
import { text } from './text.ts'

interface PasswordDialogProps {
  locked: Locked
  /** @throws the error shown in the dialog, which stays open for another try */
  onSend: (password: string) => Promise<void>
  onClose: () => void
}

/** Asks for the password of a share. */
export const PasswordDialog = ({ locked: { share }, onSend, onClose }: PasswordDialogProps) => (
  <FormDialog
    title={text('passwordTitle')}
    label={text('open')}
    onClose={onClose}
    onSubmit={form => onSend(String(form.get('password')))}
  >
    <p>{text('passwordWhy', { who: personName(share.sharedBy), name: share.fileName })}</p>
    <TextField
      label={text('password')}
      name="password"
      type="password"
      required
      maxLength={MAX_PASSWORD}
      autoFocus
    />
  </FormDialog>
)
