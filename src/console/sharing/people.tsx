import { useEffect, useId, useRef } from 'react'
import { mutate } from '../graphql/run.ts'
import { Button } from '../parts/button.tsx'
import { Send } from '../parts/icons.ts'
import { MAX_EMAIL } from '../parts/limits.ts'
import { toast } from '../parts/toasts.tsx'
import { useTask } from '../parts/use-task.ts'
import { SHARE_FILES } from './documents.ts'
import { readTerms, Terms } from './terms.tsx'
import { text } from './text.ts'

/** Messages about the notification mail. They say when the person has to notify the recipient. */
const mailed = { QUEUED: 'mailQueued', NOT_SENT: 'mailNot', FAILED: 'mailNot' } as const

interface PeopleFormProps {
  /** Several files become one share. */
  files: readonly { id: string }[]
  onMade?: (ids: string[]) => void
}

/** Shares files with a person. If a share with the person exists, it is renewed. */
export function PeopleForm({ files, onMade }: PeopleFormProps) {
  const id = useId()
  const address = useRef<HTMLInputElement>(null)
  // For several files, the link form comes first.
  const isOne = files.length === 1
  useEffect(() => {
    if (isOne) address.current?.focus()
  }, [isOne])
  const { problem, submit } = useTask()
  const send = submit(async (form, element) => {
    const email = String(form.get('email')).trim()
    const sendEmail = form.has('notify')
    const input = {
      files: files.map(file => ({ id: file.id })),
      together: files.length > 1,
      email,
      sendEmail,
      ...readTerms(form, true),
    }
    const { shareFiles } = await mutate(SHARE_FILES, { input })
    if (!shareFiles) return
    onMade?.(shareFiles.shares.map(({ id }) => id))
    const shared = text('sharedWith', { email: shareFiles.shares[0]?.recipient ?? email })
    toast({ message: sendEmail ? `${shared} ${text(mailed[shareFiles.mail])}` : shared })
    element.reset()
    address.current?.focus()
  })
  return (
    <form className="share-form" onSubmit={send}>
      <div className="field">
        <label htmlFor={`${id}-email`}>{text('email')}</label>
        <input
          ref={address}
          className="input"
          id={`${id}-email`}
          name="email"
          type="email"
          required
          maxLength={MAX_EMAIL}
          autoComplete="off"
          spellCheck={false}
          placeholder={text('emailHint')}
          aria-invalid={problem !== ''}
          aria-describedby={problem === '' ? undefined : `${id}-problem`}
        />
      </div>
      <Terms isDirect isSeveral={!isOne}>
        <label className="share-check">
          <input type="checkbox" name="notify" defaultChecked />
          {text('notify')}
        </label>
      </Terms>
      {problem && (
        <p className="problem" role="alert" id={`${id}-problem`}>
          {problem}
        </p>
      )}
      <Button look="primary" type="submit">
        <Send />
        {text('shareNow')}
      </Button>
    </form>
  )
}
