import { useId } from 'react'
import { text } from './text.ts'

/** After how many downloads a link ends. */
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

/** What has been filled in; null for no limit. */
export const readMost = (form: FormData): number | null => Number(form.get('most')) || null
