import { useEffect, useRef, useState } from 'react'
import { Search, X } from '../../parts/icons.ts'
import { MAX_NAME_PART } from '../../parts/limits.ts'
import { text } from './text.ts'

const PAUSE_MS = 300

/** Searches by name, a moment after the last letter. `/` goes there. */
export function SearchBox({ value, onSearch }: { value: string; onSearch: (query: string | undefined) => void }) {
  const input = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState(value)
  const timer = useRef(0)
  // Back and forward change what is searched for, too.
  useEffect(() => setTyped(now => (now.trim() === value ? now : value)), [value])
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isField = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement
      if (event.key !== '/' || isField) return
      event.preventDefault()
      input.current?.select()
    }
    document.addEventListener('keydown', focus)
    return () => document.removeEventListener('keydown', focus)
  }, [])
  const search = (query: string, wait = 0) => {
    clearTimeout(timer.current)
    timer.current = window.setTimeout(() => onSearch(query.trim() || undefined), wait)
  }
  return (
    <search className="search-box">
      <Search aria-hidden />
      <input
        ref={input}
        type="search"
        enterKeyHint="search"
        aria-label={text('search')}
        placeholder={text('search')}
        value={typed}
        maxLength={MAX_NAME_PART}
        onChange={({ target }) => {
          setTyped(target.value)
          search(target.value, PAUSE_MS)
        }}
        onKeyDown={event => {
          if (event.key === 'Enter' && !event.nativeEvent.isComposing) search(typed)
          if (event.key === 'Escape') {
            setTyped('')
            search('')
          }
        }}
      />
      {typed && (
        <button
          type="button"
          className="button icon"
          aria-label={text('clearSearch')}
          onClick={() => {
            setTyped('')
            search('')
            input.current?.focus()
          }}
        >
          <X />
        </button>
      )}
    </search>
  )
}
