import { toastError } from '../parts/toasts.tsx'
import { add } from './add.ts'
import { pick } from './pick.ts'
import type { Destination, Replaced } from './uploads.ts'

/** Lets the person pick files or a folder, and uploads them. */
export const pickAndAdd = (what: 'files' | 'folder', to: Destination): Promise<void> =>
  pickFor(what, to)

/**
 * Lets the person pick new content for a file, and uploads it. The old content becomes a version.
 */
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
