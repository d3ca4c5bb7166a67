import { useEffect, useRef } from 'react'
import { hearEarlyKeys } from '../parts/early-keys.ts'

const COVER = '[role=dialog], [role=alertdialog], [role=menu]'

const DESTRUCTIVE = ['Delete', 'Backspace']

/**
 * Gives a screen the keys that are pressed while nothing has the focus: after loading, and when
 * what had it has gone. Keys that delete reach it only if the focus was last in a list, or nowhere
 * yet: what has gone may have been anything, such as a version of a file.
 * @param onKey answers whether the key meant something
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
