import { type FormEvent, useRef } from 'react'
import { Button } from '../../parts/button.tsx'
import { Confirm, Dialog } from '../../parts/dialog.tsx'
import { text } from './text.ts'

/** Asks for the name of a new folder. */
export function NewFolder({ create, onEnd }: { create: (name: string) => Promise<boolean>; onEnd: () => void }) {
  const isBusy = useRef(false)
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const name = String(new FormData(event.currentTarget).get('name') ?? '').trim()
    if (!name || isBusy.current) return
    isBusy.current = true
    const done = await create(name)
    isBusy.current = false
    if (done) onEnd()
  }
  return (
    <Dialog
      title={text('newFolder')}
      isOpen
      onClose={onEnd}
      footer={
        <>
          <Button onPress={onEnd}>{text('cancel')}</Button>
          <Button look="primary" type="submit" form="new-folder">
            {text('create')}
          </Button>
        </>
      }
    >
      <form id="new-folder" className="field" onSubmit={event => void submit(event)}>
        <label htmlFor="new-folder-name">{text('name')}</label>
        <input
          className="input"
          id="new-folder-name"
          name="name"
          required
          maxLength={255}
          autoFocus
          autoComplete="off"
        />
      </form>
    </Dialog>
  )
}

/** Asks before a deletion that is final. */
export const DeleteForEver = ({ count, ...props }: { count: number; onConfirm: () => void; onClose: () => void }) => (
  <Confirm {...props} isOpen title={text('deleteForEver', { count })} label={text('delete')}>
    <p>{text('deleteForEverHint')}</p>
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
  ['search', '/'],
  ['keyPalette', 'Ctrl K'],
  ['newFolder', 'Alt N'],
  ['upload', 'Alt U'],
  ['rename', 'F2'],
  ['moveTo', 'Alt M'],
  ['share', 'Alt S'],
  ['cutOut', 'Ctrl X'],
  ['pasteHere', 'Ctrl V'],
  ['delete', 'Del'],
  ['keyUndo', 'Ctrl Z'],
  ['details', 'Alt ⏎'],
  ['keyMenu', 'Shift F10'],
  ['keys', '?'],
] as const

/** All that the keyboard can do. */
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
