import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { dayAfter, durations, untilEndOf } from './duration.ts'
import { text } from './text.ts'

const CHOSEN_DAY = 'day-chosen'

interface TermsProps {
  /** What is to be renewed has a password: without one typed here it has none. */
  isProtected?: boolean | undefined
  children: ReactNode
}

/** The fields that people and links have in common: how long it lives, and a password. */
export function Terms({ isProtected, children }: TermsProps) {
  const id = useId()
  const lifetime = useRef<HTMLSelectElement>(null)
  const more = useRef<HTMLDetailsElement>(null)
  const [isDay, setDay] = useState(false)
  useEffect(() => {
    const form = lifetime.current?.form
    const reset = () => {
      setDay(false)
      more.current?.removeAttribute('open')
    }
    form?.addEventListener('reset', reset)
    return () => form?.removeEventListener('reset', reset)
  }, [])
  return (
    <>
      <div className="field share-ends">
        <label htmlFor={`${id}-lifetime`}>{text('ends')}</label>
        <div className="share-lifetime">
          <select
            className="input"
            id={`${id}-lifetime`}
            name="lifetime"
            ref={lifetime}
            defaultValue="7d"
            onChange={({ target }) => setDay(target.value === CHOSEN_DAY)}
          >
            {durations.map(([duration, name]) => (
              <option key={duration} value={duration}>
                {text(name)}
              </option>
            ))}
            <option value={CHOSEN_DAY}>{text('onDay')}</option>
          </select>
          {isDay && (
            <input
              className="input"
              type="date"
              name="day"
              aria-label={text('lastDay')}
              required
              min={dayAfter(0)}
              max={dayAfter(5 * 365 - 1)}
              defaultValue={dayAfter(14)}
            />
          )}
        </div>
      </div>
      <details className="share-more" ref={more} open={isProtected}>
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
              {text(isProtected ? 'passwordAgain' : 'passwordHint')}
            </p>
          </div>
          {children}
        </div>
      </details>
    </>
  )
}

/** What has been filled in. */
export function readTerms(form: FormData): { duration: string; password: string | null } {
  const field = (name: string) => String(form.get(name) ?? '')
  const lifetime = field('lifetime')
  return {
    duration: lifetime === CHOSEN_DAY ? untilEndOf(field('day')) : lifetime,
    password: field('password') || null,
  }
}
