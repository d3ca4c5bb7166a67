import { lazy } from 'react'
import { idInShare } from '../../../drive/place.ts'
import type { Commands, Open } from '../commands.ts'
import type { Entry } from '../documents.ts'
import { DeleteForEver } from './dialogs.tsx'
import { text } from './text.ts'

const Picker = lazy(() =>
  import('../../../drive/picker.tsx').then(({ Picker }) => ({ default: Picker })),
)
const ShareSheet = lazy(() =>
  import('../../../sharing/sheet.tsx').then(({ ShareSheet }) => ({ default: ShareSheet })),
)
const NewText = lazy(() =>
  import('../../../edit/new-text.tsx').then(({ NewText }) => ({ default: NewText })),
)
const Tags = lazy(() => import('../../../tags/dialogs.tsx').then(({ Tags }) => ({ default: Tags })))

interface EntryDialogsProps {
  commands: Commands
  open: Open
  /** Path of the folder where the folder picker starts. */
  folder: string
  /** Display name of the root of the drive. */
  root: string
  removeNow: (entries: readonly Entry[]) => void
  refresh: () => void
}

/** The open dialog for the selection in a folder, the gallery or search results. */
export function EntryDialogs({
  commands,
  open,
  folder,
  root,
  removeNow,
  refresh,
}: EntryDialogsProps) {
  const { drive, selected, act, setOpen } = commands
  const close = () => setOpen(null)
  const count = selected.length
  if (!drive) return null
  switch (open) {
    case 'picker':
      return (
        <Picker
          drive={drive.id}
          title={text('moveCount', { count })}
          doing="move"
          label={text('moveHere')}
          root={root}
          start={folder}
          share={drive.share?.token}
          moving={selected}
          onPick={to => act(actions => actions.move(selected, to))}
          onClose={close}
        />
      )
    case 'copy-picker':
      return (
        <Picker
          drive={drive.share?.ownDrive ?? drive.id}
          title={text('copyCount', { count })}
          doing="copy"
          label={text('copyHere')}
          root={root}
          start={drive.share || drive.mixed ? '' : folder}
          moving={selected}
          copies
          anyDrive
          onPick={(to, into, name) => act(actions => actions.copy(selected, to, into, name))}
          onClose={close}
        />
      )
    case 'new-text':
      return (
        commands.target && (
          <NewText
            to={commands.target}
            onCreated={(id, path) => {
              refresh()
              const open = drive.share ? idInShare(path) : id
              commands.setSearch({ open, edit: true }, { push: true })
            }}
            onClose={close}
          />
        )
      )
    case 'share':
      return <ShareSheet files={selected} onClose={close} />
    case 'tags':
    case 'manage-tags':
      return (
        <Tags
          drive={drive.id}
          entries={selected}
          isOfDrive={open === 'manage-tags'}
          onChange={refresh}
          onClose={close}
        />
      )
    case 'delete':
      return (
        <DeleteForEver
          count={count}
          owner={drive.share?.owner}
          onConfirm={() => removeNow(selected)}
          onClose={close}
        />
      )
    default:
      return null
  }
}
