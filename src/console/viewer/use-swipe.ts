import { type RefObject, useEffect, useRef } from 'react'

/** Swipe distance that goes to another file, in pixels. */
const SWIPE = 60

/**
 * Calls `onStep` after a horizontal one-finger swipe, unless the picture is zoomed or the swipe is
 * on a player or scrolling text.
 *
 * @param onStep with 1 for next, -1 for previous
 */
export function useSwipe(stage: RefObject<HTMLElement | null>, onStep: (by: number) => void): void {
  const step = useRef(onStep)
  step.current = onStep
  useEffect(() => {
    const element = stage.current
    if (!element) return
    let from: { x: number; y: number } | null = null
    const onDown = ({ target, touches: [touch, second] }: TouchEvent) => {
      const isFree =
        target instanceof Element &&
        !target.closest('audio, video, .text, .archive, [data-zoomed=true]')
      from = touch && !second && isFree ? { x: touch.clientX, y: touch.clientY } : null
    }
    const onUp = ({ changedTouches: [touch] }: TouchEvent) => {
      if (!from || !touch) return
      const [along, across] = [touch.clientX - from.x, touch.clientY - from.y]
      from = null
      if (Math.abs(along) <= SWIPE || Math.abs(along) <= 2 * Math.abs(across)) return
      step.current(along < 0 === (document.dir !== 'rtl') ? 1 : -1)
    }
    element.addEventListener('touchstart', onDown, { passive: true })
    element.addEventListener('touchend', onUp)
    return () => {
      element.removeEventListener('touchstart', onDown)
      element.removeEventListener('touchend', onUp)
    }
  }, [stage])
}
