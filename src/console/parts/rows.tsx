import { Children, type ReactNode, useEffect, useRef } from 'react'

/** A list of items with actions. When the focused item disappears, the list takes the focus. */
export function Rows({ label, children }: { label: string; children: ReactNode }) {
  const list = useRef<HTMLUListElement>(null)
  const count = Children.count(children)
  const before = useRef(count)
  useEffect(() => {
    const isShorter = count < before.current
    before.current = count
    if (!isShorter) return
    // A closing dialog restores the focus first, possibly to an element that is gone.
    const timer = setTimeout(
      () => document.activeElement === document.body && list.current?.focus(),
      100,
    )
    return () => clearTimeout(timer)
  }, [count])
  return (
    <ul ref={list} className="rows" aria-label={label} tabIndex={-1}>
      {children}
    </ul>
  )
}
