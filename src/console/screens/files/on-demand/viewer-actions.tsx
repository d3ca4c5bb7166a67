import { lazy, Suspense, useState } from 'react'
import { useQuery } from 'urql'
import { Button } from '../../../parts/button.tsx'
import { FormDialog, TextField } from '../../../parts/form.tsx'
import { Layers, PencilLine, Star, Trash2, UserRoundPlus } from '../../../parts/icons.ts'
import { MAX_NAME } from '../../../parts/limits.ts'
import { type Commands, mayMark, mayShare } from '../commands.ts'
import type { Entry, FileEntry } from '../documents.ts'
import { DETAILS } from './details-documents.ts'
import { text } from './text.ts'

const Versions = lazy(() =>
  import('../../../versions/versions.tsx').then(({ Versions }) => ({ default: Versions })),
)

interface ViewerActionsProps {
  file: FileEntry
  commands: Commands
  /** Selects the file, because the dialogs of the screen are about the selection. */
  select: (file: Entry) => void
  hasVersions: boolean
  onVersions: () => void
  /** Called before the file is deleted. */
  onRemove: () => void
}

/** The actions for the file in the viewer, as far as the person may take them. */
export function ViewerActions({
  file,
  commands: { drive, act, remove, setOpen },
  select,
  hasVersions,
  onVersions,
  onRemove,
}: ViewerActionsProps) {
  const [isRenaming, setRenaming] = useState(false)
  if (!drive) return null
  const rename = (name: string) =>
    new Promise<void>((resolve, reject) =>
      act(actions => actions.rename(file, name).then(resolve, reject)),
    )
  return (
    <>
      {mayShare(drive, [file]) && (
        <Button
          look="icon"
          aria-label={text('share')}
          onPress={() => {
            select(file)
            setOpen('share')
          }}
        >
          <UserRoundPlus />
        </Button>
      )}
      {mayMark(drive) && (
        <Button
          look="icon"
          aria-label={text(file.isFavourite ? 'unmark' : 'mark')}
          aria-pressed={file.isFavourite}
          onPress={() => act(actions => actions.mark([file], !file.isFavourite))}
        >
          <Star className={file.isFavourite ? 'star' : undefined} />
        </Button>
      )}
      {drive.canWrite && (
        <Button look="icon" aria-label={text('rename')} onPress={() => setRenaming(true)}>
          <PencilLine />
        </Button>
      )}
      {!drive.share && !drive.mixed && (
        <Button
          look="icon"
          aria-label={text('versions')}
          aria-pressed={hasVersions}
          onPress={onVersions}
        >
          <Layers />
        </Button>
      )}
      {drive.canDelete && (
        <Button
          look="icon"
          aria-label={text('delete')}
          onPress={() => {
            select(file)
            if (drive.trashDays > 0) onRemove()
            remove([file])
          }}
        >
          <Trash2 />
        </Button>
      )}
      {isRenaming && (
        <FormDialog
          title={text('rename')}
          label={text('rename')}
          onClose={() => setRenaming(false)}
          onSubmit={form => rename(String(form.get('name')))}
        >
          <TextField
            label={text('renameTo', { name: file.name })}
            name="name"
            defaultValue={file.name}
            required
            pattern=".*\S.*"
            maxLength={MAX_NAME}
            autoFocus
          />
        </FormDialog>
      )}
    </>
  )
}

/** The versions of the file in the viewer. */
export function VersionsPanel({ id }: { id: string }) {
  const [{ data }] = useQuery({
    query: DETAILS,
    variables: { id },
    requestPolicy: 'cache-and-network',
  })
  const node = data?.node
  return (
    <aside className="viewer-info" aria-label={text('versions')}>
      <Suspense>{node?.__typename === 'File' && <Versions file={node} />}</Suspense>
    </aside>
  )
}
