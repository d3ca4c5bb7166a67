import { useEffect, useId, useRef } from 'react'
import { mutate } from '../graphql/run.ts'
import { Button } from '../parts/button.tsx'
import { Send } from '../parts/icons.ts'
import { toast } from '../parts/toasts.tsx'
import { useTask } from '../parts/use-task.ts'
import { SHARE_FILES } from './documents.ts'
import { readTerms, Terms } from './terms.tsx'
import { text } from './text.ts'

/** What is said of the mail: people are to know when they have to tell the recipient themselves. */
const mailed = { QUEUED: 'mailQueued', NOT_SENT: 'mailNot', FAILED: 'mailNot' } as const

interface PeopleFormProps {
  files: readonly { id: string }[]
  /** The address to begin with, of somebody whose share is to be renewed. */
  recipient?: string | undefined
  /** That share has a password, which does not outlast a renewal. */
  isProtected?: boolean | undefined
  onShared?: () => void
}

/** Shares files with one person; with somebody who has them already, it renews. */
export function PeopleForm({ files, recipient = '', isProtected, onShared }: PeopleFormProps) {
  const id = useId()
  const address = useRef<HTMLInputElement>(null)
  useEffect(() => address.current?.focus(), [])
  const { problem, submit } = useTask()
  const send = submit(async (form, element) => {
    const email = String(form.get('email')).trim()
    const sendEmail = form.has('notify')
    const input = { files: files.map(file => ({ id: file.id })), email, sendEmail, ...readTerms(form) }
    const { shareFiles } = await mutate(SHARE_FILES, { input })
    if (!shareFiles) return
    const shared = text('sharedWith', { email: shareFiles.shares[0]?.recipient ?? email })
    toast({ message: sendEmail ? `${shared} ${text(mailed[shareFiles.mail])}` : shared })
    element.reset()
    address.current?.focus()
    onShared?.()
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
          maxLength={254}
          autoComplete="off"
          spellCheck={false}
          placeholder={text('emailHint')}
          defaultValue={recipient}
          aria-invalid={problem !== ''}
          aria-describedby={problem === '' ? undefined : `${id}-problem`}
        />
      </div>
      <Terms isProtected={isProtected}>
        <label className="check">
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
