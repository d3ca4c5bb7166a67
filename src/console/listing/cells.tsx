import { Check, Ellipsis } from '../parts/icons.ts'
import type { Point } from '../parts/menu.tsx'

/** Checkbox of a list item. */
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

/** Button that opens the menu of a list item. */
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
