import { useEffect, useId, useRef, useState } from 'react'
import { dayAfter, durations, untilEndOf } from './duration.ts'
import { text } from './text.ts'

const CHOSEN_DAY = 'day-chosen'

/**
 * The lifetime field of a share.
 *
 * @param kept label of the option that keeps the current expiry
 */
export function Lifetime({ kept }: { kept?: string }) {
  const id = useId()
  const lifetime = useRef<HTMLSelectElement>(null)
  const [isDay, setDay] = useState(false)
  useEffect(() => {
    const form = lifetime.current?.form
    const reset = () => setDay(false)
    form?.addEventListener('reset', reset)
    return () => form?.removeEventListener('reset', reset)
  }, [])
  return (
    <div className="field share-ends">
      <label htmlFor={id}>{text('ends')}</label>
      <div className="share-lifetime">
        <select
          className="input"
          id={id}
          name="lifetime"
          ref={lifetime}
          defaultValue={kept === undefined ? '7d' : ''}
          onChange={({ target }) => setDay(target.value === CHOSEN_DAY)}
        >
          {kept !== undefined && <option value="">{kept}</option>}
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
  )
}

/** Reads the chosen lifetime; null keeps the current expiry. */
export function readLifetime(form: FormData): string | null {
  const chosen = String(form.get('lifetime') ?? '')
  return chosen === CHOSEN_DAY ? untilEndOf(String(form.get('day') ?? '')) : chosen || null
}
