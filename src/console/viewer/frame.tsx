import './viewer.css'
import { type ReactNode, type Ref, useEffect, useState } from 'react'
import { Dialog, Modal, ModalOverlay } from 'react-aria-components'
import { formatBytes } from '../i18n/format.ts'
import { Button } from '../parts/button.tsx'
import { Download, Maximize2, Minimize2, X } from '../parts/icons.ts'
import { useTitle } from '../parts/use-title.ts'
import type { Previewed } from './preview.tsx'
import { text } from './text.ts'

interface FrameProps {
  /** Undefined while loading. */
  file: Previewed | undefined
  onDownload: () => void
  onClose: () => void
  /** Called for Esc, if it does not close the frame. */
  onEscape?: (() => void) | undefined
  /** A notice below the head. */
  notice?: ReactNode
  /** Further buttons, before the download button. */
  actions?: ReactNode
  stage?: Ref<HTMLDivElement>
  /** The preview and its side controls. */
  children: ReactNode
}

/** Shows a file in the whole window. */
export function Frame(props: FrameProps) {
  const { file, onDownload, onClose, onEscape = onClose, notice, actions, stage, children } = props
  useTitle(file?.name)
  return (
    <ModalOverlay
      className="viewer"
      data-stage="dark"
      isOpen
      onOpenChange={isOpen => isOpen || onEscape()}
    >
      <Modal className="viewer-frame">
        <Dialog className="viewer-dialog" aria-label={file?.name ?? text('preview')}>
          <div className="viewer-body">
            <div className="viewer-head">
              <div className="viewer-name">
                <strong dir="auto">{file?.name}</strong>
                {file && <span>{formatBytes(file.size)}</span>}
              </div>
              {actions}
              <FullScreen />
              {file && (
                <Button look="icon" aria-label={text('download')} onPress={onDownload}>
                  <Download />
                </Button>
              )}
              <Button look="icon" aria-label={text('close')} onPress={onClose}>
                <X />
              </Button>
            </div>
            {notice}
            <div className="viewer-stage" ref={stage}>
              {children}
            </div>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}

/** Full screen, in browsers that support it (not on iPhones). */
function FullScreen() {
  const [isOn, setOn] = useState(document.fullscreenElement !== null)
  useEffect(() => {
    const changed = () => setOn(document.fullscreenElement !== null)
    document.addEventListener('fullscreenchange', changed)
    return () => {
      document.removeEventListener('fullscreenchange', changed)
      if (document.fullscreenElement) void document.exitFullscreen()
    }
  }, [])
  if (!document.fullscreenEnabled) return null
  const toggle = () =>
    isOn ? document.exitFullscreen() : document.documentElement.requestFullscreen()
  return (
    <Button
      look="icon"
      aria-label={text(isOn ? 'leaveFullScreen' : 'fullScreen')}
      onPress={() => void toggle()}
    >
      {isOn ? <Minimize2 /> : <Maximize2 />}
    </Button>
  )
}
