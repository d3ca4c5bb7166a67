import { nameFrom } from '../drive/names.ts'
import { join } from '../drive/place.ts'
import { FormDialog, TextField } from '../parts/form.tsx'
import { MAX_NAME } from '../parts/limits.ts'
import type { Destination } from '../uploads/uploads.ts'
import { write } from './place.ts'
import { text } from './text.ts'

interface NewTextProps {
  to: Destination
  /** Called with the id and the path of the new file. */
  onCreated: (id: string, path: string) => void
  onClose: () => void
}

/** Asks for a name, and creates an empty text file. */
export function NewText({ to: { drive, share, folder }, onCreated, onClose }: NewTextProps) {
  const create = async (typed: string) => {
    const named = nameFrom(typed)
    const name = /\.[^.]+$/.test(named) ? named : `${named}.txt`
    const made = await write({
      folder: { at: { drive, path: folder } },
      name,
      // The service finds the type by the name.
      contentType: '',
      bytes: new Uint8Array(),
      isShared: share !== undefined,
      to: 'new',
    })
    onCreated(made.id, join(folder, name))
  }
  return (
    <FormDialog
      title={text('newText')}
      label={text('create')}
      onClose={onClose}
      onSubmit={form => create(String(form.get('name')))}
    >
      <TextField
        label={text('name')}
        hint={text('newHint')}
        name="name"
        defaultValue={text('newName')}
        required
        pattern=".*\S.*"
        maxLength={MAX_NAME}
        autoFocus
        onFocus={({ currentTarget: field }) =>
          field.setSelectionRange(0, field.value.lastIndexOf('.'))
        }
      />
    </FormDialog>
  )
}
