import './tags.css'
import { useState } from 'react'
import { inParts } from '../graphql/in-parts.ts'
import { mutate } from '../graphql/run.ts'
import { Button } from '../parts/button.tsx'
import { FormDialog, TextField } from '../parts/form.tsx'
import { Plus } from '../parts/icons.ts'
import { Skeleton } from '../parts/states.tsx'
import { toast } from '../parts/toasts.tsx'
import { useTask } from '../parts/use-task.ts'
import type { Tag } from './chips.tsx'
import { type Colour, ColourField } from './colours.tsx'
import { CREATE_TAG, type DriveTag, TAG_ENTRIES } from './documents.ts'
import { text } from './text.ts'
import { useTags } from './use-tags.ts'

/** Maximum length of a tag name, in characters. */
const MAX_TAG_NAME = 50

interface Tagged {
  id: string
  tags: readonly Tag[]
}

export interface DialogProps {
  drive: string
  entries: readonly Tagged[]
  onClose: () => void
}

/** Adds tags to entries and removes them. It can also create tags. */
export function TagDialog({ drive, entries, onClose }: DialogProps) {
  const tags = useTags(drive)
  const [changes, setChanges] = useState<ReadonlyMap<string, boolean>>(new Map())
  const has = (id: string) => entries.filter(entry => entry.tags.some(tag => tag.id === id)).length
  const set = (id: string, to: boolean) => setChanges(before => new Map(before).set(id, to))

  async function save() {
    const chosen = [...changes].filter(([id, to]) => has(id) !== (to ? entries.length : 0))
    if (chosen.length === 0) return
    const [add, remove] = [true, false].map(to =>
      chosen.filter(([, is]) => is === to).map(([id]) => id),
    )
    for (const part of inParts(entries)) {
      const input = {
        entries: part.map(({ id }) => ({ id })),
        add: add ?? [],
        remove: remove ?? [],
      }
      await mutate(TAG_ENTRIES, { input })
    }
    toast({ message: text('saved', { count: entries.length }) })
  }

  return (
    <FormDialog
      title={text('title', { count: entries.length })}
      label={text('save')}
      onSubmit={save}
      onClose={onClose}
    >
      {!tags ? (
        <Skeleton rows={3} />
      ) : tags.length === 0 ? (
        <p className="hint">{text('none')}</p>
      ) : (
        <ul className="tag-list">
          {tags.map(tag => (
            <Choice
              key={tag.id}
              tag={tag}
              having={has(tag.id)}
              of={entries.length}
              change={changes.get(tag.id)}
              set={set}
            />
          ))}
        </ul>
      )}
      <NewTag drive={drive} onCreated={id => set(id, true)} />
    </FormDialog>
  )
}

interface ChoiceProps {
  tag: DriveTag
  /** How many of the entries have the tag. */
  having: number
  of: number
  change: boolean | undefined
  set: (id: string, to: boolean) => void
}

function Choice({ tag, having, of, change, set }: ChoiceProps) {
  const isSome = change === undefined && having > 0 && having < of
  return (
    <li>
      <label className="tag-choice">
        <input
          type="checkbox"
          ref={box => {
            if (box) box.indeterminate = isSome
          }}
          checked={change ?? having === of}
          onChange={({ target }) => set(tag.id, target.checked)}
        />
        <span className={`tag-chip tag-${tag.colour.toLowerCase()}`} dir="auto">
          {tag.name}
        </span>
      </label>
    </li>
  )
}

/** Creates a tag. */
export function NewTag({ drive, onCreated }: { drive: string; onCreated?: (id: string) => void }) {
  const [name, setName] = useState('')
  const [colour, setColour] = useState<Colour>('BLUE')
  const { problem, run } = useTask()
  const create = () =>
    void run(async () => {
      const { createTag } = await mutate(CREATE_TAG, { input: { drive, name, colour } })
      setName('')
      if (createTag) onCreated?.(createTag.tag.id)
    })
  return (
    <fieldset className="new-tag">
      <legend className="sr">{text('new')}</legend>
      <TextField
        label={text('new')}
        value={name}
        maxLength={MAX_TAG_NAME}
        dir="auto"
        onChange={({ target }) => setName(target.value)}
        onKeyDown={event => {
          if (event.key !== 'Enter' || name.trim() === '') return
          // Enter creates the tag, and must not submit the dialog.
          event.preventDefault()
          create()
        }}
      />
      <ColourField label={text('colour')} value={colour} onChoose={setColour} />
      <Button onPress={create} isDisabled={name.trim() === ''}>
        <Plus />
        {text('create')}
      </Button>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </fieldset>
  )
}
