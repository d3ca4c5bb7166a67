import { figure, MAX_PAGE } from '../../src/limits.ts'
import { onConflicts } from '../../src/on-conflict.ts'

/** Arguments that mean the same in every operation. */
export const limitOf = (what: string) => ({
  description: `${what} of a page; ${figure(MAX_PAGE)} by default.`,
  example: 100,
  bounds: { minimum: 1, maximum: MAX_PAGE },
})
export const limit = limitOf('Entries')

export const cursor = { description: 'Where to continue: the `next_cursor` of the previous page.' }

export const onConflict = {
  description: 'What to do when something of the same name is in the way; fail by default.',
  example: 'keep_both',
  bounds: { enum: onConflicts },
}

/** Of what a client has seen. Its source is `ifMatchHeader`; a route that takes it answers 412, too. */
export const ifMatch = {
  description: 'The ETag of the file or folder, to change it only if nobody else has meanwhile (RFC 9110).',
  example: '"7"',
}
export const ifMatchHeader = { if_match: 'header if-match' } as const

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
