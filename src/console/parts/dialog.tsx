import type { ReactNode } from 'react'
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components'
import { Button } from './button.tsx'
import { X } from './icons.ts'
import { text } from './text.ts'

interface DialogProps {
  title: string
  isOpen: boolean
  onClose: () => void
  children: ReactNode
  /** The buttons, main button last. */
  footer?: ReactNode
  size?: 'small' | 'wide' | 'side'
  /** A click outside does not close the dialog, because its content is shown only once. */
  isSticky?: boolean
}

/** A dialog in the middle of the screen, or a bottom sheet on phones. */
export const Dialog = ({
  title,
  isOpen,
  onClose,
  children,
  footer,
  size = 'small',
  isSticky,
}: DialogProps) => (
  <ModalOverlay
    className="backdrop"
    isDismissable={!isSticky}
    isOpen={isOpen}
    onOpenChange={open => open || onClose()}
  >
    <Modal className={`dialog ${size}`}>
      <AriaDialog className="dialog-body">
        <div className="dialog-head">
          <Heading slot="title">{title}</Heading>
          <Button look="icon" aria-label={text('close')} onPress={onClose}>
            <X />
          </Button>
        </div>
        {children}
        {footer && <div className="dialog-foot">{footer}</div>}
      </AriaDialog>
    </Modal>
  </ModalOverlay>
)

/** A confirmation before an action that cannot be undone. */
export const Confirm = (props: {
  title: string
  isOpen: boolean
  /** Label of the button that confirms. */
  label: string
  onConfirm: () => void
  onClose: () => void
  children: ReactNode
}) => (
  <Dialog
    title={props.title}
    isOpen={props.isOpen}
    onClose={props.onClose}
    footer={
      <>
        <Button onPress={props.onClose}>{text('cancel')}</Button>
        <Button
          look="danger"
          onPress={() => {
            props.onClose()
            props.onConfirm()
          }}
        >
          {props.label}
        </Button>
      </>
    }
  >
    {props.children}
  </Dialog>
)
