import { type ReactNode, useEffect, useRef, useState } from 'react'
import { TextField } from '../parts/form.tsx'
import { MAX_PASSWORD } from '../parts/limits.ts'
import { AccessField, newAccess, readAccess } from './access.tsx'
import { Lifetime, readLifetime } from './lifetime.tsx'
import { PageWords, readPageWords } from './page-words.tsx'
import { Rights, readRights } from './rights.tsx'
import { text } from './text.ts'

interface TermsProps {
  isDirect?: boolean
  /** Whether the share contains several entries. */
  isSeveral: boolean
  children: ReactNode
}

/** The fields of a new share: permission, lifetime and password. */
export function Terms({ isDirect = false, isSeveral, children }: TermsProps) {
  const [access, setAccess] = useState(newAccess)
  const more = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const form = more.current?.closest('form')
    const reset = () => {
      more.current?.removeAttribute('open')
      setAccess(newAccess)
    }
    form?.addEventListener('reset', reset)
    return () => form?.removeEventListener('reset', reset)
  }, [])
  // Most links are for downloads.
  const accessField = (
    <AccessField isDirect={isDirect} isSeveral={isSeveral} access={access} onChange={setAccess} />
  )
  return (
    <>
      {isDirect && accessField}
      <Lifetime />
      <details className="share-more" ref={more}>
        <summary>{text('more')}</summary>
        <div className="share-more-fields">
          {!isDirect && accessField}
          {access !== 'edit' && (
            <TextField
              label={text('password')}
              hint={text('passwordHint')}
              name="password"
              type="password"
              maxLength={MAX_PASSWORD}
              autoComplete="new-password"
            />
          )}
          <PageWords />
          {children}
          <Rights />
        </div>
      </details>
    </>
  )
}

/** Reads the fields. */
export const readTerms = (form: FormData, isDirect = false) => ({
  duration: readLifetime(form),
  password: String(form.get('password') ?? '') || null,
  ...readAccess(form, isDirect),
  ...readRights(form),
  ...readPageWords(form),
})
