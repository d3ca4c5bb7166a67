import { type KeyboardEvent, type PointerEvent, useMemo, useRef, useState } from 'react'
import type { Section } from './layout.ts'
import { monthName } from './month-name.ts'
import { text } from './text.ts'

interface ScrubberProps {
  sections: readonly Section[]
  /** Offsets of the months from the top, as fractions of the whole. */
  offsets: readonly number[]
  /** Index of the visible month. */
  current: number
  height: number
  /** Scrolls to the month at an index. */
  onGo: (index: number) => void
}

/** Minimum distance of year labels in pixels. Closer labels are omitted. */
const LABEL = 22

/** A timeline beside the gallery: a slider for touch, mouse and keyboard. */
export function Scrubber({ sections, offsets, current, height, onGo }: ScrubberProps) {
  const track = useRef<HTMLDivElement>(null)
  const [isHeld, setHeld] = useState(false)
  const years = useMemo(() => {
    const shown: { year: string; at: number }[] = []
    for (const [i, { month }] of sections.entries()) {
      const year = month.slice(0, 4)
      const at = offsets[i] ?? 0
      const last = shown.at(-1)
      if (last?.year === year || (last && (at - last.at) * height < LABEL)) continue
      shown.push({ year, at })
    }
    return shown
  }, [sections, offsets, height])
  const last = sections.length - 1
  const shown = sections[current]

  const goTo = (index: number) => onGo(Math.max(0, Math.min(last, index)))
  /** Goes to the last month that starts at or above the pointer. */
  function goToPoint({ clientY }: PointerEvent) {
    const { top = 0, height: length = 1 } = track.current?.getBoundingClientRect() ?? {}
    const part = (clientY - top) / length
    const beyond = offsets.findIndex(offset => offset > part)
    goTo((beyond < 0 ? offsets.length : beyond) - 1)
  }
  function onKeyDown(event: KeyboardEvent) {
    const steps: Record<string, number> = {
      ArrowDown: current + 1,
      ArrowRight: current + 1,
      ArrowUp: current - 1,
      ArrowLeft: current - 1,
      PageDown: current + 12,
      PageUp: current - 12,
      Home: 0,
      End: last,
    }
    const step = steps[event.key]
    if (step === undefined) return
    event.preventDefault()
    event.stopPropagation()
    goTo(step)
  }
  if (!shown) return null
  const at = `${(offsets[current] ?? 0) * 100}%`
  return (
    <div
      ref={track}
      className={`scrubber${isHeld ? ' held' : ''}`}
      role="slider"
      tabIndex={0}
      aria-label={text('months')}
      aria-orientation="vertical"
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={current}
      aria-valuetext={monthName(shown.month)}
      onKeyDown={onKeyDown}
      onPointerDown={event => {
        event.currentTarget.setPointerCapture(event.pointerId)
        setHeld(true)
        goToPoint(event)
      }}
      onPointerMove={event => isHeld && goToPoint(event)}
      onPointerUp={() => setHeld(false)}
      onPointerCancel={() => setHeld(false)}
    >
      {years.map(({ year, at }) => (
        <span
          key={year}
          className="scrubber-year"
          aria-hidden
          style={{ insetBlockStart: `${at * 100}%` }}
        >
          {year}
        </span>
      ))}
      <span className="scrubber-thumb" aria-hidden style={{ insetBlockStart: at }} />
      <span className="scrubber-month" aria-hidden style={{ insetBlockStart: at }}>
        {monthName(shown.month)}
      </span>
    </div>
  )
}
