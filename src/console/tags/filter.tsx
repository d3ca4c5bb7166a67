import './tags.css'
import { Button } from '../parts/button.tsx'
import { X } from '../parts/icons.ts'
import { text } from './text.ts'
import { useTags } from './use-tags.ts'

interface FilterProps {
  drive: string
  /** The ids of the chosen tags, separated by dots. */
  tags: string
  /** Called with undefined to remove the filter. */
  onTags: (tags: string | undefined) => void
}

/** Filters a list to entries that have all chosen tags. */
export function TagFilter({ drive, tags, onTags }: FilterProps) {
  const all = useTags(drive)
  const chosen = tags ? tags.split('.') : []
  return (
    <fieldset className="tag-filter">
      <legend className="sr">{text('filter')}</legend>
      {all?.length === 0 && <span className="soft">{text('noFilter')}</span>}
      {all?.map(({ id, name, colour }) => {
        const isChosen = chosen.includes(id)
        return (
          <button
            key={id}
            type="button"
            className={`tag-chip tag-${colour.toLowerCase()}`}
            aria-pressed={isChosen}
            dir="auto"
            onClick={() =>
              onTags((isChosen ? chosen.filter(one => one !== id) : [...chosen, id]).join('.'))
            }
          >
            {name}
          </button>
        )
      })}
      <Button look="icon" aria-label={text('clear')} onPress={() => onTags(undefined)}>
        <X />
      </Button>
    </fieldset>
  )
}
