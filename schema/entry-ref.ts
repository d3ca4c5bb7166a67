import type { EntryName } from '../src/services/tree/entry-path.ts'
import type { EntryRef as Ref } from './access.ts'
import { builder } from './builder.ts'

export const DrivePath = builder.inputType('DrivePath', {
  description: 'A path in a drive, at which nothing needs to exist.',
  fields: t => ({
    drive: t.id({
      description:
        "The id of the drive; by default the caller's own. For uploading, creating, moving and deleting, also the id of a share that the caller may edit.",
    }),
    path: t.string({
      required: true,
      description:
        'Names joined by slashes, from the root of the drive, or from the shared folder.',
    }),
  }),
})

export const EntryRef = builder.inputType('EntryRef', {
  description: 'A file or folder, by id or by place.',
  isOneOf: true,
  fields: t => ({
    id: t.id({ description: 'Its id.' }),
    at: t.field({ type: DrivePath, description: 'Its place.' }),
  }),
})

/** An entry as the services name it, in the drive that the access rule has found. */
export const nameOf = ({ id, at }: Ref): EntryName =>
  typeof id === 'string' ? { id } : { path: at?.path ?? '' }
