import { useId } from 'react'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import type { Locked } from './opening.ts'
import { text } from './text.ts'

/** Asks for the password of a share. */
export function PasswordDialog(props: { locked: Locked; onSend: (password: string) => void; onClose: () => void }) {
  const id = useId()
  const { share, problem } = props.locked
  return (
    <Dialog
      title={text('passwordTitle')}
      isOpen
      onClose={props.onClose}
      footer={
        <>
          <Button onPress={props.onClose}>{text('cancel')}</Button>
          <Button look="primary" type="submit" form={id}>
            {text('open')}
          </Button>
        </>
      }
    >
      <p>{text('passwordWhy', { who: share.sharedBy.name || share.sharedBy.email, name: share.fileName })}</p>
      <form
        id={id}
        className="field"
        onSubmit={event => {
          event.preventDefault()
          props.onSend(String(new FormData(event.currentTarget).get('password')))
        }}
      >
        <label htmlFor={`${id}-password`}>{text('password')}</label>
        <input
          className="input"
          id={`${id}-password`}
          name="password"
          type="password"
          required
          maxLength={128}
          autoComplete="off"
          autoFocus
          aria-invalid={problem !== null}
          aria-describedby={problem === null ? undefined : `${id}-problem`}
        />
        {problem !== null && (
          <p className="problem" role="alert" id={`${id}-problem`}>
            {problem}
          </p>
        )}
      </form>
    </Dialog>
  )
}
