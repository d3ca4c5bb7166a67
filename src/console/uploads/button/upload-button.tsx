import { FileUp, FolderUp, Upload } from '../../parts/icons.ts'
import { Menu } from '../../parts/menu.tsx'
import type { Destination } from '../uploads.ts'
import { text } from './text.ts'

/** Picks files or a folder, and uploads them. The upload code loads on demand. */
export function UploadButton({ to }: { to: Destination }) {
  const upload = (what: 'files' | 'folder') =>
    void import('../pick-and-add.ts').then(({ pickAndAdd }) => pickAndAdd(what, to))
  return (
    <Menu
      label={text('upload')}
      button={{ look: 'primary', className: 'upload-button' }}
      entries={[
        { id: 'files', label: text('pickFiles'), icon: FileUp, run: () => upload('files') },
        { id: 'folder', label: text('pickFolder'), icon: FolderUp, run: () => upload('folder') },
      ]}
    >
      <Upload aria-hidden />
      <span className="wide-only">{text('upload')}</span>
    </Menu>
  )
}
