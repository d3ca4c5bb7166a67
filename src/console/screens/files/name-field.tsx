import { useEffect, useId, useRef } from 'react'
import { Button } from '../../parts/button.tsx'
import { MAX_NAME } from '../../parts/limits.ts'
import { text } from './text.ts'
import type { Draft } from './use-rename.ts'

interface NameFieldProps {
  draft: Draft
  onType: (typed: string) => void
  /** Called on Enter and on blur. */
  onSave: () => void
  onCancel: () => void
}

/** Input for the name of an entry. An invalid name stays, with the reason beside it. */
export function NameField({ draft, onType, onSave, onCancel }: NameFieldProps) {
  const { typed, problem, isSaving } = draft
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const reason = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const { current } = input
    current?.focus()
    // Selects the name without the extension.
    const name = current?.value ?? ''
    const dot = name.lastIndexOf('.')
    current?.setSelectionRange(0, dot > 0 ? dot : name.length)
  }, [])
  useEffect(() => {
    if (problem) reason.current?.scrollIntoView({ block: 'nearest' })
  }, [problem])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keeps events of the field away from the row
    <span
      className="name-edit"
      onClick={event => event.stopPropagation()}
      onDoubleClick={event => event.stopPropagation()}
      onKeyDown={event => event.stopPropagation()}
    >
      <input
        ref={input}
        className="input name-field"
        aria-label={text('newName')}
        aria-invalid={problem !== ''}
        aria-describedby={problem ? id : undefined}
        value={typed}
        readOnly={isSaving}
        maxLength={MAX_NAME}
        spellCheck={false}
        onChange={({ target }) => onType(target.value)}
        // A rejected name is not sent again until the person changes it or presses Enter.
        onBlur={() => problem || onSave()}
        onKeyDown={({ key, nativeEvent }) => {
          if (key === 'Enter' && !nativeEvent.isComposing) onSave()
          if (key === 'Escape') onCancel()
        }}
      />
      {problem && (
        <div className="name-problem" ref={reason}>
          <p className="problem" role="alert" id={id}>
            {problem}
          </p>
          <Button onPress={onCancel}>{text('keepName')}</Button>
        </div>
      )}
    </span>
  )
}
