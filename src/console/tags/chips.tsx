import './chips.css'

export interface Tag {
  id: string
  name: string
  colour: string
}

/** The tags of an entry. */
export const Chips = ({ tags }: { tags: readonly Tag[] }) =>
  tags.length === 0 ? null : (
    <span className="tag-chips">
      {tags.map(({ id, name, colour }) => (
        <span key={id} className={`tag-chip tag-${colour.toLowerCase()}`} title={name} dir="auto">
          {name}
        </span>
      ))}
    </span>
  )
