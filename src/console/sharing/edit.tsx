import { useId, useState } from 'react'
import { mutate } from '../graphql/run.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { TextField } from '../parts/form.tsx'
import { MAX_PASSWORD } from '../parts/limits.ts'
import { toast } from '../parts/toasts.tsx'
import { useTask } from '../parts/use-task.ts'
import { AccessField, accessOf, readAccess } from './access.tsx'
import { type Share, UPDATE_SHARE } from './documents.ts'
import { endOf } from './facts.ts'
import { Lifetime, readLifetime } from './lifetime.tsx'
import { MostDownloads, readMost } from './most-downloads.tsx'
import { MessageField, readPageWords, TitleField } from './page-words.tsx'
import { Rights, readRights } from './rights.tsx'
import { text } from './text.ts'

/** Edits the terms of a share. Its link stays the same. */
export function EditShare({ share, onClose }: { share: Share; onClose: () => void }) {
  const id = useId()
  const { isBusy, problem, submit } = useTask()
  const [isOpen, setOpen] = useState(!share.passwordProtected)
  const isLink = share.__typename === 'LinkShare'
  const [access, setAccess] = useState(() => accessOf(share))
  const mayAsk = access !== 'edit'
  const save = submit(async form => {
    const password = String(form.get('password') ?? '')
    const duration = readLifetime(form)
    const input = {
      share: { id: share.id },
      ...readAccess(form, !isLink),
      ...readRights(form),
      ...readPageWords(form),
      ...(duration === null ? {} : { duration }),
      ...(isLink ? { maxDownloads: readMost(form) } : {}),
      ...(password !== ''
        ? { password }
        : share.passwordProtected && (isOpen || !mayAsk)
          ? { password: null }
          : {}),
    }
    await mutate(UPDATE_SHARE, { input })
    toast({ message: text('saved') })
    onClose()
  })
  return (
    <Dialog
      title={text('editTitle')}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onPress={onClose}>{text('cancel')}</Button>
          <Button look="primary" type="submit" form={id} isDisabled={isBusy}>
            {text('save')}
          </Button>
        </>
      }
    >
      <form className="share-form" id={id} onSubmit={save}>
        <p className="soft">{text('editHint')}</p>
        <AccessField
          isDirect={!isLink}
          isSeveral={share.entryCount > 1}
          access={access}
          onChange={setAccess}
        />
        <Lifetime kept={endOf(share)} />
        {isLink && <MostDownloads most={share.maxDownloads} />}
        {share.passwordProtected && mayAsk && (
          <label className="share-check">
            <input
              type="checkbox"
              checked={!isOpen}
              onChange={({ target }) => setOpen(!target.checked)}
            />
            {text('asksPassword')}
          </label>
        )}
        {mayAsk && !(share.passwordProtected && isOpen) && (
          <TextField
            label={text('password')}
            name="password"
            type="password"
            maxLength={MAX_PASSWORD}
            autoComplete="new-password"
            placeholder={text(share.passwordProtected ? 'passwordKept' : 'passwordNone')}
          />
        )}
        {share.passwordProtected && !mayAsk && <p className="soft">{text('passwordGoes')}</p>}
        <MessageField message={share.message} />
        <TitleField title={share.title} />
        <Rights share={share} />
        {problem && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
      </form>
    </Dialog>
  )
}
