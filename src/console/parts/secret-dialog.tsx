import { Button } from './button.tsx'
import { CopyField } from './copy-field.tsx'
import { Dialog } from './dialog.tsx'

interface SecretDialogProps {
  title: string
  /** States that the secret is shown only once, and what it is for. */
  hint: string
  label: string
  secret: string
  /** Label of the closing button. */
  done: string
  onClose: () => void
}

/** Shows a secret once. A click outside does not close the dialog. */
export const SecretDialog = ({ title, hint, label, secret, done, onClose }: SecretDialogProps) => (
  <Dialog
    title={title}
    isOpen
    isSticky
    onClose={onClose}
    footer={
      <Button look="primary" onPress={onClose}>
        {done}
      </Button>
    }
  >
    <p>{hint}</p>
    <CopyField label={label} value={secret} />
  </Dialog>
)
