import { Check, Ellipsis } from '../parts/icons.ts'
import type { Point } from '../parts/menu.tsx'

/** The box of a listed thing that a click or a finger marks. */
export const Mark = ({ onMark }: { onMark: () => void }) => (
  <span
    className="mark"
    aria-hidden
    onClick={event => {
      event.stopPropagation()
      onMark()
    }}
  >
    <Check />
  </span>
)

/** The button of a listed thing that opens its menu. */
export const More = ({ label, onMenu }: { label: string; onMenu: (at: Point) => void }) => (
  <button
    type="button"
    className="button icon more-button"
    tabIndex={-1}
    aria-label={label}
    onClick={event => {
      event.stopPropagation()
      const { left, bottom } = event.currentTarget.getBoundingClientRect()
      onMenu({ x: left, y: bottom })
    }}
  >
    <Ellipsis />
  </button>
)
