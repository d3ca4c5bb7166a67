import { type DialogProps, TagDialog } from './dialog.tsx'
import { TagManager } from './manager.tsx'

/** The tags of some entries, or of the whole drive with `isOfDrive`. */
export const Tags = ({
  isOfDrive,
  onChange,
  ...dialog
}: DialogProps & { isOfDrive: boolean; onChange: () => void }) =>
  isOfDrive ? (
    <TagManager drive={dialog.drive} onChange={onChange} onClose={dialog.onClose} />
  ) : (
    dialog.entries.length > 0 && <TagDialog {...dialog} />
  )
