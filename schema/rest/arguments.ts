import { MAX_PAGE } from '../../src/limits.ts'
import { onConflicts } from '../../src/on-conflict.ts'

/** Arguments that mean the same in every operation. */
export const limit = {
  description: `Entries of a page; ${MAX_PAGE} by default.`,
  example: 100,
  bounds: { minimum: 1, maximum: MAX_PAGE },
}

export const cursor = { description: 'Where to continue: the `next_cursor` of the previous page.' }

export const onConflict = {
  description: 'What to do when something of the same name is in the way; fail by default.',
  example: 'keep_both',
  bounds: { enum: onConflicts },
}

export const mode = {
  description: 'Save the file (the default), or show it where that is safe.',
  example: 'download',
  bounds: { enum: ['download', 'inline'] },
}

/** What the access rules of operations are about on the own files of the caller. */
export const ownDrive = () => ({ driveId: null })

/** What the access rules of operations are about that name a workspace. */
export const namedWorkspace = (_root: object, { workspace_id: workspaceId }: { workspace_id: string }) => ({
  workspaceId,
})
