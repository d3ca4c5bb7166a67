import { Confirm, Dialog } from '../../../parts/dialog.tsx'
import { FormDialog, TextField } from '../../../parts/form.tsx'
import { MAX_NAME } from '../../../parts/limits.ts'
import { text } from './text.ts'

/**
 * Asks for the name of a new folder.
 *
 * @param create gets the typed name; its error is shown
 */
export const NewFolder = ({
  create,
  onEnd,
}: {
  create: (typed: string) => Promise<void>
  onEnd: () => void
}) => (
  <FormDialog
    title={text('newFolder')}
    label={text('create')}
    onClose={onEnd}
    onSubmit={form => create(String(form.get('name')))}
  >
    <TextField
      label={text('name')}
      name="name"
      required
      pattern=".*\S.*"
      maxLength={MAX_NAME}
      autoFocus
    />
  </FormDialog>
)

interface DeleteForEverProps {
  count: number
  /** Who may restore the entries, if the person may not. */
  owner: string | undefined
  onConfirm: () => void
  onClose: () => void
}

/** Asks before a deletion that the person cannot undo. */
export const DeleteForEver = ({ count, owner, ...props }: DeleteForEverProps) => (
  <Confirm
    {...props}
    isOpen
    title={text(owner === undefined ? 'deleteForEver' : 'deleteShared', { count })}
    label={text('delete')}
  >
    <p>{owner === undefined ? text('deleteForEverHint') : text('deleteSharedHint', { owner })}</p>
  </Confirm>
)

const keys = [
  ['keyMove', '↑ ↓ ← →'],
  ['keyRange', 'Shift ↑ ↓'],
  ['keyMark', 'Space'],
  ['keyAll', 'Ctrl A'],
  ['keyClear', 'Esc'],
  ['open', '⏎'],
  ['keyUp', '⌫ · Alt ↑'],
  ['keyFind', 'a … z'],
  ['keySearch', '/'],
  ['keyPalette', 'Ctrl K'],
  ['newFolder', 'Alt N'],
  ['upload', 'Alt U'],
  ['rename', 'F2'],
  ['moveTo', 'Alt M'],
  ['share', 'Alt S'],
  ['copyTo', 'Alt C'],
  ['mark', 'Alt B'],
  ['tags', 'Alt T'],
  ['cutOut', 'Ctrl X'],
  ['copyOut', 'Ctrl C'],
  ['pasteHere', 'Ctrl V'],
  ['delete', 'Del'],
  ['keyUndo', 'Ctrl Z'],
  ['details', 'Alt ⏎'],
  ['keyMenu', 'Shift F10'],
  ['keys', '?'],
] as const

/** The list of keyboard shortcuts. */
export const Keys = ({ onClose }: { onClose: () => void }) => (
  <Dialog title={text('keys')} isOpen onClose={onClose} size="wide">
    <dl className="keys">
      {keys.map(([message, key]) => (
        <div key={message}>
          <dt>{text(message)}</dt>
          <dd>
            <kbd>{key}</kbd>
          </dd>
        </div>
      ))}
    </dl>
  </Dialog>
)
