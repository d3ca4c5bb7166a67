import { SelectField } from '../parts/form.tsx'
import type { DriveTag } from './documents.ts'
import { text } from './text.ts'

export type Colour = DriveTag['colour']

const colours = [
  ['GREY', text('grey')],
  ['RED', text('red')],
  ['ORANGE', text('orange')],
  ['YELLOW', text('yellow')],
  ['GREEN', text('green')],
  ['TEAL', text('teal')],
  ['BLUE', text('blue')],
  ['PURPLE', text('purple')],
  ['PINK', text('pink')],
] as const satisfies readonly (readonly [Colour, string])[]

/** The colour field of a tag. */
export const ColourField = ({
  onChoose,
  ...field
}: {
  label: string
  value: Colour
  isBare?: boolean
  onChoose: (colour: Colour) => void
}) => (
  <SelectField
    {...field}
    options={colours}
    onChange={({ target }) =>
      onChoose(colours.find(([colour]) => colour === target.value)?.[0] ?? 'GREY')
    }
  />
)
