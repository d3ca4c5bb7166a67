import { Button } from './button.tsx'
import { CopyField } from './copy-field.tsx'
import { Dialog } from './dialog.tsx'

interface SecretDialogProps {
  title: string
  /** That it is shown this once, and what it is for. */
  hint: string
  label: string
  secret: string
  /** What the button says that ends it. */
  done: string
  onClose: () => void
}

/** Shows a secret that is not shown again: a click beside it leaves it open. */
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
