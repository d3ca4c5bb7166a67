import { type RefObject, useEffect, useState } from 'react'

/** The current width of an element in CSS pixels. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const { current } = element
    if (!current) return
    const observer = new ResizeObserver(([entry]) =>
      setWidth(Math.round(entry?.contentRect.width ?? 0)),
    )
    observer.observe(current)
    return () => observer.disconnect()
  }, [element])
  return width
}
