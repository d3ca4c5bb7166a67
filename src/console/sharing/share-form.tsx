import { useEffect, useId, useRef, useState } from 'react'
import { mutate } from '../graphql/run.ts'
import { Button } from '../parts/button.tsx'
import { copyLink } from '../parts/copy.ts'
import { TextField } from '../parts/form.tsx'
import { Link2, Send } from '../parts/icons.ts'
import { MAX_EMAIL, MAX_PASSWORD } from '../parts/limits.ts'
import { toast } from '../parts/toasts.tsx'
import { useTask } from '../parts/use-task.ts'
import { type Access, AccessField, newAccess, readAccess } from './access.tsx'
import { CREATE_LINK, SHARE_FILES } from './documents.ts'
import { Lifetime, readLifetime } from './lifetime.tsx'
import { MostDownloads, readMost } from './most-downloads.tsx'
import { MessageField, readPageWords, TitleField } from './page-words.tsx'
import { Rights, readRights } from './rights.tsx'
import { text } from './text.ts'

/** Messages about the notification mail. They say when the person has to notify the recipient. */
const mailed = { QUEUED: 'mailQueued', NOT_SENT: 'mailNot', FAILED: 'mailNot' } as const

interface ShareFormProps {
  /** Several entries become one share. */
  files: readonly { id: string }[]
  onMade?: () => void
}

/** Shares entries with the owner of an e-mail address or, without an address, by a link. */
export function ShareForm({ files, onMade }: ShareFormProps) {
  const id = useId()
  const address = useRef<HTMLInputElement>(null)
  const more = useRef<HTMLDetailsElement>(null)
  const [email, setEmail] = useState('')
  const [chosen, setAccess] = useState<Access>(newAccess)
  const [password, setPassword] = useState('')
  const isDirect = email.trim() !== ''
  const isSeveral = files.length > 1
  const access = chosen === 'edit' && (!isDirect || isSeveral) ? newAccess : chosen
  useEffect(() => {
    // On a phone, the keyboard would cover the form.
    if (matchMedia('(pointer: fine)').matches) address.current?.focus()
  }, [])
  const { problem, submit } = useTask()
  const refs = files.map(file => ({ id: file.id }))

  const shareWith = async (form: FormData, terms: object) => {
    const sendEmail = form.has('notify')
    const input = { entries: refs, together: isSeveral, email: email.trim(), sendEmail, ...terms }
    const { createDirectShare } = await mutate(SHARE_FILES, { input })
    if (!createDirectShare) return false
    const shared = text('sharedWith', { email: createDirectShare.shares[0]?.recipient ?? email })
    toast({ message: sendEmail ? `${shared} ${text(mailed[createDirectShare.mail])}` : shared })
    return true
  }
  const makeLink = async (form: FormData, terms: object) => {
    const input = { entries: refs, maxDownloads: readMost(form), ...terms }
    const made = mutate(CREATE_LINK, { input })
    await copyLink(
      made.then(({ createLink }) => createLink?.share.url ?? ''),
      text('linkMade'),
    )
    return (await made).createLink !== null
  }
  const send = submit(async (form, element) => {
    const terms = {
      duration: readLifetime(form),
      password: access === 'edit' ? null : password || null,
      ...readAccess(form, isDirect),
      ...readRights(form),
      ...readPageWords(form),
    }
    if (!(await (isDirect ? shareWith : makeLink)(form, terms))) return
    onMade?.()
    element.reset()
    more.current?.removeAttribute('open')
    setEmail('')
    setPassword('')
    setAccess(newAccess)
    if (isDirect) address.current?.focus()
  })
  return (
    <form className="share-form" onSubmit={send}>
      <div className="field">
        <label htmlFor={`${id}-email`}>{text('email')}</label>
        <input
          ref={address}
          className="input"
          id={`${id}-email`}
          type="email"
          value={email}
          onChange={({ target }) => setEmail(target.value)}
          maxLength={MAX_EMAIL}
          autoComplete="off"
          spellCheck={false}
          placeholder={text('emailHint')}
          aria-invalid={isDirect && problem !== ''}
          aria-describedby={`${id}-who${problem === '' ? '' : ` ${id}-problem`}`}
        />
        <p className="hint" id={`${id}-who`}>
          {text(isDirect ? 'whoPerson' : 'whoLink')}
        </p>
      </div>
      <AccessField isDirect={isDirect} isSeveral={isSeveral} access={access} onChange={setAccess} />
      <Lifetime />
      {access === 'edit' ? (
        <p className="soft" role="status">
          {text(password === '' ? 'passwordNever' : 'passwordUnused')}
        </p>
      ) : (
        <TextField
          label={text('password')}
          hint={text('passwordHint')}
          type="password"
          value={password}
          onChange={({ target }) => setPassword(target.value)}
          maxLength={MAX_PASSWORD}
          autoComplete="new-password"
          placeholder={text('passwordNone')}
        />
      )}
      <MessageField />
      <details className="share-more" ref={more}>
        <summary>{text('more')}</summary>
        <div className="share-more-fields">
          <TitleField />
          {isDirect ? (
            <label className="share-check">
              <input type="checkbox" name="notify" defaultChecked />
              {text('notify')}
            </label>
          ) : (
            <MostDownloads />
          )}
          <Rights />
        </div>
      </details>
      {problem && (
        <p className="problem" role="alert" id={`${id}-problem`}>
          {problem}
        </p>
      )}
      <Button look="primary" type="submit">
        {isDirect ? <Send /> : <Link2 />}
        {text(isDirect ? 'shareNow' : 'makeLink')}
      </Button>
    </form>
  )
}
