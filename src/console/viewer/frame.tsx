import './viewer.css'
import type { ReactNode } from 'react'
import { Dialog, Modal, ModalOverlay } from 'react-aria-components'
import { formatBytes } from '../i18n/format.ts'
import { Button } from '../parts/button.tsx'
import { Download, X } from '../parts/icons.ts'
import { useTitle } from '../parts/use-title.ts'
import type { Previewed } from './preview.tsx'
import { text } from './text.ts'

interface FrameProps {
  /** Undefined while it is asked for. */
  file: Previewed | undefined
  onDownload: () => void
  onClose: () => void
  /** The preview, and what stands at its sides. */
  children: ReactNode
}

/** A file over the whole window. */
export function Frame({ file, onDownload, onClose, children }: FrameProps) {
  useTitle(file?.name)
  return (
    <ModalOverlay className="viewer" isOpen onOpenChange={isOpen => isOpen || onClose()}>
      <Modal className="viewer-frame">
        <Dialog className="viewer-dialog" aria-label={file?.name ?? text('preview')}>
          <div className="viewer-body">
            <div className="viewer-head">
              <div className="viewer-name">
                <strong dir="auto">{file?.name}</strong>
                {file && <span>{formatBytes(file.size)}</span>}
              </div>
              {file && (
                <Button look="icon" aria-label={text('download')} onPress={onDownload}>
                  <Download />
                </Button>
              )}
              <Button look="icon" aria-label={text('close')} onPress={onClose}>
                <X />
              </Button>
            </div>
            <div className="viewer-stage">{children}</div>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}
