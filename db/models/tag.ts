import { moment, type Row, table, text, uuid, word } from './columns.ts'

/** The colours of tags. */
export const tagColours = [
  'grey',
  'red',
  'orange',
  'yellow',
  'green',
  'teal',
  'blue',
  'purple',
  'pink',
] as const
export type TagColour = (typeof tagColours)[number]

/** A label of one drive, which its files and folders can have. */
export const Tag = table({
  tableName: 'tag',
  columns: {
    id: uuid.key(),
    bucketId: uuid.ownedBy('bucket'),
    name: text(255),
    /**
     * The name without regard to case and accents (src/values/tag-name.ts): both engines compare it
     * exactly.
     */
    nameKey: text(255),
    colour: word<TagColour>(8),
    createdAt: moment,
  },
  unique: [['bucketId', 'nameKey']],
})

export type Tag = Row<typeof Tag>
