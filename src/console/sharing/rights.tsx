import { useId } from 'react'
import { MAX_LABEL } from '../parts/limits.ts'
import type { Share } from './documents.ts'
import { text } from './text.ts'

/**
 * The label of a share, and whether its owner is notified of uses.
 *
 * @param share undefined for a new share
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

/** Reads the fields. */
export const readRights = (form: FormData) => ({
  label: String(form.get('label') ?? ''),
  notifies: form.has('notifies'),
})
