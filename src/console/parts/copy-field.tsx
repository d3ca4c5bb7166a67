import { useId } from 'react'
import { CopyButton } from './copy-button.tsx'

/** Something to be copied. Where there is no button for that, it can be selected. */
export function CopyField({ label, value }: { label: string; value: string }) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="copy-field">
        <input
          className="input"
          id={id}
          readOnly
          value={value}
          spellCheck={false}
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
        <CopyButton value={value} autoFocus />
      </div>
    </div>
  )
}
