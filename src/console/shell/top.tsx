import { type ReactNode, useEffect, useState } from 'react'
import { createPortal } from 'react-dom'

/** Puts something into the bar at the top, for as long as a screen is shown. */
export function InTop({ children }: { children: ReactNode }) {
  const [slot, setSlot] = useState<HTMLElement | null>(null)
  useEffect(() => setSlot(document.getElementById('top-slot')), [])
  return slot ? createPortal(children, slot) : null
}
