import { type KeyboardEvent as ReactKeyboardEvent, useEffect, useRef } from 'react'
import { hearEarlyKeys } from '../parts/early-keys.ts'

const COVER = '[role=dialog], [role=alertdialog], [role=menu]'

const DESTRUCTIVE = ['Delete', 'Backspace']

/** Keys pressed in a dialog, or on a version of the selected file, must not delete the file. */
const isBesideTheList = ({ currentTarget, target }: ReactKeyboardEvent<HTMLElement>) =>
  target instanceof Element &&
  (!currentTarget.contains(target) || target.closest('.versions') !== null)

/**
 * Makes a key handler for the element around a screen. It sends the keys that bubble up from the
 * screen's controls, such as a button that has just selected something.
 *
 * @param onKey returns whether it used the key
 */
export const keysOfScreen =
  (onKey: (event: ReactKeyboardEvent<HTMLElement>) => boolean) =>
  (event: ReactKeyboardEvent<HTMLElement>): void => {
    if (
      event.defaultPrevented ||
      isBesideTheList(event) ||
      event.target instanceof HTMLInputElement ||
      event.target instanceof HTMLTextAreaElement
    )
      return
    if (onKey(event)) event.preventDefault()
  }

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
