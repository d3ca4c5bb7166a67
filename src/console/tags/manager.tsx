import './tags.css'
import { useState } from 'react'
import { mutate } from '../graphql/run.ts'
import { Button } from '../parts/button.tsx'
import { Confirm, Dialog } from '../parts/dialog.tsx'
import { Trash2 } from '../parts/icons.ts'
import { Skeleton } from '../parts/states.tsx'
import { toastError } from '../parts/toasts.tsx'
import { ColourField } from './colours.tsx'
import { NewTag } from './dialog.tsx'
import { DELETE_TAG, type DriveTag, UPDATE_TAG } from './documents.ts'
import { text } from './text.ts'
import { useTags } from './use-tags.ts'

/** Renames, recolours and deletes the tags of a drive. */
export function TagManager({
  drive,
  onClose,
  onChange,
}: {
  drive: string
  onClose: () => void
  onChange: () => void
}) {
  const tags = useTags(drive)
  const [leaving, setLeaving] = useState<DriveTag | null>(null)
  const remove = (tag: DriveTag) =>
    mutate(DELETE_TAG, { input: { tag: tag.id } }).then(onChange, toastError)
  return (
    <>
      <Dialog title={text('manage')} isOpen onClose={onClose} size="wide">
        {!tags ? (
          <Skeleton rows={3} />
        ) : tags.length === 0 ? (
          <p className="hint">{text('none')}</p>
        ) : (
          <ul className="tag-list managed">
            {tags.map(tag => (
              <Managed key={tag.id} tag={tag} onDelete={() => setLeaving(tag)} />
            ))}
          </ul>
        )}
        <NewTag drive={drive} />
      </Dialog>
      {leaving && (
        <Confirm
          isOpen
          title={text('deleteTitle', { name: leaving.name })}
          label={text('deleteNow')}
          onConfirm={() => void remove(leaving)}
          onClose={() => setLeaving(null)}
        >
          <p>{text('deleteWhy', { count: leaving.entryCount })}</p>
        </Confirm>
      )}
    </>
  )
}

function Managed({ tag, onDelete }: { tag: DriveTag; onDelete: () => void }) {
  const { id, name, colour, entryCount } = tag
  const [typed, setTyped] = useState(name)
  const update = (change: { name?: string; colour?: DriveTag['colour'] }) =>
    mutate(UPDATE_TAG, { input: { tag: id, ...change } }).catch(error => {
      setTyped(name)
      toastError(error)
    })
  const rename = () => {
    if (typed.trim() === '') setTyped(name)
    else if (typed !== name) void update({ name: typed })
  }
  return (
    <li>
      <span className={`tag-dot tag-${colour.toLowerCase()}`} aria-hidden />
      <input
        className="input"
        aria-label={text('name', { name })}
        dir="auto"
        value={typed}
        maxLength={50}
        onChange={({ target }) => setTyped(target.value)}
        onBlur={rename}
        onKeyDown={event => {
          if (event.key === 'Enter') event.currentTarget.blur()
        }}
      />
      <ColourField
        isBare
        label={text('colourOf', { name })}
        value={colour}
        onChoose={chosen => void update({ colour: chosen })}
      />
      <span className="soft tag-count">{text('used', { count: entryCount })}</span>
      <Button look="icon" aria-label={text('delete', { name })} onPress={onDelete}>
        <Trash2 />
      </Button>
    </li>
  )
}
