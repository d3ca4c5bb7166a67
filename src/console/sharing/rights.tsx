import { useId } from 'react'
import { MAX_LABEL } from '../parts/limits.ts'
import type { Share } from './documents.ts'
import { text } from './text.ts'

/**
 * What its sharer calls a share, and whether they are told of its use. @param share none for a new
 * one
 */
export function Rights({ share }: { share?: Share }) {
  const id = useId()
  return (
    <>
      <div className="field">
        <label htmlFor={id}>{text('label')}</label>
        <input
          className="input"
          id={id}
          name="label"
          maxLength={MAX_LABEL}
          autoComplete="off"
          defaultValue={share?.label}
          dir="auto"
          aria-describedby={`${id}-hint`}
        />
        <p className="soft" id={`${id}-hint`}>
          {text('labelHint')}
        </p>
      </div>
      <label className="share-check">
        <input type="checkbox" name="notifies" defaultChecked={share?.notifies ?? false} />
        {text('notifies')}
      </label>
    </>
  )
}

/** What has been filled in. */
export const readRights = (form: FormData) => ({
  label: String(form.get('label') ?? ''),
  notifies: form.has('notifies'),
})
