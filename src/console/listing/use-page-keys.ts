import { useEffect, useRef } from 'react'

const COVER = '[role=dialog], [role=alertdialog], [role=menu]'

/**
 * Gives a screen the keys that are pressed while nothing has the focus: after loading, and when what had it has gone.
 * @param onKey answers whether the key meant something
 */
export function usePageKeys(onKey: (event: KeyboardEvent & { currentTarget: Element }) => boolean): void {
  const latest = useRef(onKey)
  latest.current = onKey
  useEffect(() => {
    const { body } = document
    const listen = (event: KeyboardEvent) => {
      if (event.target !== body || event.defaultPrevented || document.querySelector(COVER)) return
      if (latest.current(event as KeyboardEvent & { currentTarget: Element })) event.preventDefault()
    }
    body.addEventListener('keydown', listen)
    return () => body.removeEventListener('keydown', listen)
  }, [])
}
