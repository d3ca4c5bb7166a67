import { toastError } from '../parts/toasts.tsx'
import { add } from './add.ts'
import { pick } from './pick.ts'
import type { Destination } from './uploads.ts'

/** Asks the person for files or a folder, and uploads them. */
export const pickAndAdd = (what: 'files' | 'folder', to: Destination): Promise<void> =>
  pick(what)
    .then(gathering => (gathering ? add(gathering, to) : undefined))
    .catch(toastError)
