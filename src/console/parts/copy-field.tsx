import { useId } from 'react'
import { CopyButton } from './copy-button.tsx'

interface CopyFieldProps {
  label: string
  value: string
  /** What the button says aloud, where there are several of them: the focus is then elsewhere. */
  copyLabel?: string
}

/** Something to be copied. Where there is no button for that, it can be selected. */
export function CopyField({ label, value, copyLabel }: CopyFieldProps) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="copy-field">
        {/* Shows all of it, as it may have to be typed on another device. */}
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
