import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Lifetime, readLifetime } from './lifetime.tsx'
import { Rights, readRights } from './rights.tsx'
import { text } from './text.ts'

/** The fields of a new share: how long it lives, a password, and what may be done with it. */
export function Terms({ children }: { children: ReactNode }) {
  const id = useId()
  const more = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const form = more.current?.closest('form')
    const reset = () => more.current?.removeAttribute('open')
    form?.addEventListener('reset', reset)
    return () => form?.removeEventListener('reset', reset)
  }, [])
  return (
    <>
      <Lifetime />
      <details className="share-more" ref={more}>
        <summary>{text('more')}</summary>
        <div className="share-more-fields">
          <div className="field">
            <label htmlFor={`${id}-password`}>{text('password')}</label>
            <input
              className="input"
              id={`${id}-password`}
              name="password"
              type="password"
              maxLength={128}
              autoComplete="new-password"
              aria-describedby={`${id}-password-hint`}
            />
            <p className="soft" id={`${id}-password-hint`}>
              {text('passwordHint')}
            </p>
          </div>
          {children}
          <Rights />
        </div>
      </details>
    </>
  )
}

/** What has been filled in. */
export const readTerms = (form: FormData) => ({
  duration: readLifetime(form),
  password: String(form.get('password') ?? '') || null,
  ...readRights(form),
})
