import './chips.css'

export interface Tag {
  id: string
  name: string
  colour: string
}

/** The tags of an entry. */
export const Chips = ({ tags }: { tags: readonly Tag[] }) =>
  tags.length === 0 ? null : (
    <span className="chips">
      {tags.map(({ id, name, colour }) => (
        <span key={id} className={`chip tag-${colour.toLowerCase()}`} title={name} dir="auto">
          {name}
        </span>
      ))}
    </span>
  )
