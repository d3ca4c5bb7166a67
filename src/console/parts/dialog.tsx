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
  /** The buttons, the main one last. */
  footer?: ReactNode
  size?: 'small' | 'wide' | 'side'
  /** A click beside it leaves it open: what it shows is not shown again. */
  isSticky?: boolean
}

/** A dialog in the middle of the screen; a sheet at its foot on a telephone. */
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

/** Asks before something that cannot be undone. */
export const Confirm = (props: {
  title: string
  isOpen: boolean
  /** What the button says, and does. */
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
