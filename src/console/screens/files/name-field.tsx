import { useEffect, useRef } from 'react'
import { text } from './text.ts'

/** The name of an entry, being written. Enter takes it, Escape and leaving it unchanged do not. */
export function NameField({ name, onEnd }: { name: string; onEnd: (name: string | null) => void }) {
  const input = useRef<HTMLInputElement>(null)
  const ended = useRef(false)
  useEffect(() => {
    const { current } = input
    current?.focus()
    // The stem alone: the ending says what the file is.
    const dot = name.lastIndexOf('.')
    current?.setSelectionRange(0, dot > 0 ? dot : name.length)
  }, [name])
  const end = (value: string | null) => {
    if (ended.current) return
    ended.current = true
    onEnd(value && value !== name ? value : null)
  }
  return (
    <input
      ref={input}
      className="input name-field"
      aria-label={text('newName')}
      defaultValue={name}
      maxLength={255}
      spellCheck={false}
      onClick={event => event.stopPropagation()}
      onDoubleClick={event => event.stopPropagation()}
      onBlur={event => end(event.target.value.trim())}
      onKeyDown={event => {
        event.stopPropagation()
        if (event.key === 'Enter' && !event.nativeEvent.isComposing) end(event.currentTarget.value.trim())
        if (event.key === 'Escape') end(null)
      }}
    />
  )
}
