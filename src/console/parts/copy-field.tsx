import { useId } from 'react'
import { CopyButton } from './copy-button.tsx'

interface CopyFieldProps {
  label: string
  value: string
  /** Accessible name of the button. Needed if there are several, because the focus is elsewhere. */
  copyLabel?: string
}

/** A value to copy. Without a clipboard, the value can be selected. */
export function CopyField({ label, value, copyLabel }: CopyFieldProps) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="copy-field">
        {/* Shows the whole value, because it may have to be typed on another device. */}
        <textarea
          className="input"
          id={id}
          readOnly
          rows={Math.ceil(value.length / 28)}
          value={value}
          spellCheck={false}
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
        <CopyButton value={value} {...(copyLabel ? { label: copyLabel } : { autoFocus: true })} />
      </div>
    </div>
  )
}
