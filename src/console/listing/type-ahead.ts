import { type KeyboardEvent, useRef } from 'react'

const PAUSE_MS = 700

/**
 * Finds an item by its first letters, typed one after another.
 *
 * @param find gets the letters in lower case, and whether to search after the cursor because the
 * same letter was typed again
 */
export function useTypeAhead(find: (start: string, again: boolean) => void) {
  const typed = useRef({ letters: '', at: 0 })
  const reset = () => {
    typed.current = { letters: '', at: 0 }
  }
  const isTyping = () =>
    typed.current.letters !== '' && performance.now() - typed.current.at < PAUSE_MS
  return {
    isTyping,
    reset,
    /** Returns whether the key was a letter. */
    take(event: KeyboardEvent): boolean {
      const isLetter = event.key.length === 1 && !'?/'.includes(event.key)
      if (!isLetter || event.ctrlKey || event.metaKey || event.altKey) return false
      const letter = event.key.toLocaleLowerCase()
      if (letter === ' ' && !isTyping()) return false
      const before = isTyping() ? typed.current.letters : ''
      const isSame = before !== '' && [...before].every(one => one === letter)
      typed.current = { letters: before + letter, at: performance.now() }
      find(isSame || before === '' ? letter : before + letter, isSame || before === '')
      return true
    },
  }
}
