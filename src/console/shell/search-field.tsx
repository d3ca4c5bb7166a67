import { useLocation, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { Search, X } from '../parts/icons.ts'
import { MAX_SEARCH } from '../parts/limits.ts'
import { text } from './text.ts'

const PAUSE_MS = 250

/**
 * The global search field. Typing opens the search screen after a short pause. `/` focuses the
 * field.
 */
export function SearchField() {
  const { pathname } = useLocation()
  const { q = '' }: { q?: string } = useSearch({ strict: false })
  const navigate = useNavigate()
  const isThere = pathname === '/search'
  const value = isThere ? q : ''
  const input = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState(value)
  const timer = useRef(0)
  /**
   * The last query that this field wrote to the URL. A late navigation must not replace newer text.
   */
  const sent = useRef(value)
  // Back, forward and filters also change the query.
  useEffect(() => {
    if (value === sent.current) return
    sent.current = value
    setTyped(value)
  }, [value])
  // Leaving the screen cancels a pending search. The effect runs for each path.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs for each path
  useEffect(() => {
    if (isThere) return
    clearTimeout(timer.current)
    sent.current = ''
    setTyped('')
  }, [pathname])
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isField =
        event.target instanceof Element &&
        event.target.closest('input, textarea, select, [role=dialog]')
      if (event.key !== '/' || isField || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      input.current?.select()
    }
    document.addEventListener('keydown', focus)
    return () => document.removeEventListener('keydown', focus)
  }, [])
  const search = (query: string, wait = 0) => {
    clearTimeout(timer.current)
    timer.current = window.setTimeout(() => {
      if (!query.trim() && !isThere) return
      sent.current = query.trim() ? query : ''
      // Typing replaces the history entry, so that Back leads to the screen before the search.
      void navigate({
        to: '/search',
        search: query.trim() ? { q: query } : {},
        replace: isThere,
      } as never)
    }, wait)
  }
  const clear = () => {
    setTyped('')
    search('')
  }
  return (
    <search className="search-box">
      <Search aria-hidden />
      <input
        ref={input}
        type="search"
        enterKeyHint="search"
        aria-label={text('search')}
        aria-keyshortcuts="/"
        placeholder={text('search')}
        value={typed}
        maxLength={MAX_SEARCH}
        onChange={({ target }) => {
          setTyped(target.value)
          search(target.value, PAUSE_MS)
        }}
        onKeyDown={event => {
          if (event.key === 'Enter' && !event.nativeEvent.isComposing) search(typed)
          if (event.key === 'Escape') clear()
        }}
      />
      {typed && (
        <button
          type="button"
          className="button icon"
          aria-label={text('clearSearch')}
          onClick={() => {
            clear()
            input.current?.focus()
          }}
        >
          <X />
        </button>
      )}
    </search>
  )
}
