import { useEffect, useRef } from 'react'
import { hearEarlyKeys } from '../parts/early-keys.ts'

const COVER = '[role=dialog], [role=alertdialog], [role=menu]'

const DESTRUCTIVE = ['Delete', 'Backspace']

/**
 * Sends keys to a screen while nothing has the focus: after loading, or when the focused element is
 * gone. Keys that delete are sent only if the focus was last in a list or nowhere yet. Otherwise
 * the focused element could have been something else, such as a version of a file.
 *
 * @param onKey returns whether it used the key
 */
export function usePageKeys(
  onKey: (event: KeyboardEvent & { currentTarget: Element }) => boolean,
): void {
  const latest = useRef(onKey)
  latest.current = onKey
  useEffect(() => {
    const { body } = document
    let isOfList = true
    const follow = ({ target }: FocusEvent) => {
      isOfList = target instanceof Element && target.closest('[role=grid]') !== null
    }
    const listen = (event: KeyboardEvent) => {
      if (event.target !== body || event.defaultPrevented || document.querySelector(COVER)) return
      if (!isOfList && DESTRUCTIVE.includes(event.key)) return
      if (latest.current(event as KeyboardEvent & { currentTarget: Element }))
        event.preventDefault()
    }
    body.addEventListener('focusin', follow)
    body.addEventListener('keydown', listen)
    hearEarlyKeys(listen)
    return () => {
      body.removeEventListener('focusin', follow)
      body.removeEventListener('keydown', listen)
    }
  }, [])
}
