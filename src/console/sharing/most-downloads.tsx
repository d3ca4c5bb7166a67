import { useId } from 'react'
import { text } from './text.ts'

/** The download limit of a link. */
export function MostDownloads({ most }: { most?: number | null }) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{text('mostDownloads')}</label>
      <input
        className="input"
        id={id}
        name="most"
        type="number"
        inputMode="numeric"
        min={1}
        max={1_000_000_000}
        step={1}
        placeholder={text('unlimited')}
        defaultValue={most ?? ''}
      />
    </div>
  )
}

/** Reads the download limit; null for none. */
export const readMost = (form: FormData): number | null => Number(form.get('most')) || null
