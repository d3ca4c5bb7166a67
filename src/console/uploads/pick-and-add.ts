import { toastError } from '../parts/toasts.tsx'
import { add } from './add.ts'
import { pick } from './pick.ts'
import type { Destination, Replaced } from './uploads.ts'

/** Asks the person for files or a folder, and uploads them. */
export const pickAndAdd = (what: 'files' | 'folder', to: Destination): Promise<void> =>
  pickFor(what, to)

/** Asks for the new content of a file, and uploads it. What the file was becomes a version. */
export const pickAndReplace = (to: Destination, replaced: Replaced): Promise<void> =>
  pickFor('file', to, replaced)

const pickFor = (
  what: Parameters<typeof pick>[0],
  to: Destination,
  replaced?: Replaced,
): Promise<void> =>
  pick(what)
    .then(gathering => (gathering ? add(gathering, to, replaced) : undefined))
    .catch(toastError)
