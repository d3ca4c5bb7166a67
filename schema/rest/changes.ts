import { FILE, FOLDER } from '../../db/models/entry.ts'
import type { EntryKind, EntryName } from '../../src/services/tree/entry-path.ts'
import { MAX_DELETED_FILES } from '../../src/values/limits.ts'
import { joinPath, parseFilePath, parsePath } from '../../src/values/paths.ts'
import type { move } from './arguments.ts'
import type { DriveContext, Given } from './builder.ts'

// REST moves and deletes one file or folder at a time, with its own field names. These functions
// call the service, which changes any number of entries.

/** Sends the revision of a file or folder as the ETag. */
export function named<F extends { revision: number }>({ shared }: DriveContext, entry: F): F {
  shared.revision = entry.revision
  return entry
}

/** A moved file or folder, by its old and new path. */
export interface MovedEntry {
  source: string[]
  destination: string[]
  filesMoved: number
  revision: number
}

type MoveArguments = Given<typeof move>
type Terms = Pick<MoveArguments, 'on_conflict' | 'if_match'>

/** @param name the new name; null to keep it */
async function moveEntry(
  context: DriveContext,
  entry: EntryName,
  kind: EntryKind,
  { folder, name }: { folder: string[]; name: string | null },
  { on_conflict: choice, if_match: expected }: Terms,
): Promise<MovedEntry> {
  const { services, caller, drive, tree } = context
  const place = { to: { path: joinPath(folder) }, toField: 'destination', name }
  const onConflict = drive.onConflict(choice)
  const how = { ...place, kind, onConflict, mayStay: false, expected }
  const { moved } = await services.entryChanges.move(tree, [entry], how, caller)
  const [{ from, to, files, revision } = { from: [], to: [], files: 0, revision: 0 }] = moved
  return named(context, { source: from, destination: to, filesMoved: files, revision })
}

/** Moves an entry to a full path. */
function moveTo(
  context: DriveContext,
  kind: EntryKind,
  from: string[],
  to: string[],
  terms: Terms,
): Promise<MovedEntry> {
  const place = { folder: to.slice(0, -1), name: to.at(-1) ?? '' }
  return moveEntry(context, { path: joinPath(from) }, kind, place, terms)
}

export async function moveFile(args: MoveArguments, context: DriveContext): Promise<MovedEntry> {
  const from = parseFilePath(args.source, 'source')
  return moveTo(context, FILE, from, parseFilePath(args.destination, 'destination'), args)
}

/** Moves a file into a folder. It keeps its name. */
export async function moveFileInto(
  id: string,
  folder: string,
  terms: Terms,
  context: DriveContext,
): Promise<MovedEntry> {
  const place = { folder: parsePath(folder, 'destination'), name: null }
  return moveEntry(context, { id }, FILE, place, terms)
}

export async function moveFolder(args: MoveArguments, context: DriveContext): Promise<MovedEntry> {
  const from = parseFilePath(args.source, 'source')
  const to = parseFilePath(args.destination, 'destination')
  return moveTo(context, FOLDER, from, to, args)
}

/**
 * Deletes a file.
 * @returns its path
 * @param field the input field, for errors
 */
export async function deleteFile(
  entry: EntryName,
  field: string,
  expected: string | null | undefined,
  { services, tree, caller }: DriveContext,
): Promise<{ names: string[] }> {
  const how = { recursive: false, kind: FILE, field, expected } as const
  const { deleted } = await services.entryChanges.remove(tree, [entry], how, caller)
  return { names: deleted[0] ?? [] }
}

/** Deletes the existing files among these. */
export async function deleteFiles(
  paths: readonly string[],
  { services, tree, caller }: DriveContext,
): Promise<{ deleted: string[]; failed: string[] }> {
  const wanted = [...new Set(paths.map(path => joinPath(parseFilePath(path, 'files'))))]
  const { deleted } = await services.entryChanges.remove(
    tree,
    paths.map(path => ({ path })),
    {
      recursive: false,
      kind: FILE,
      skipsMissing: true,
      most: MAX_DELETED_FILES,
      field: 'files',
      expected: undefined,
    },
    caller,
  )
  const gone = new Set(deleted.map(joinPath))
  return {
    deleted: wanted.filter(path => gone.has(path)),
    failed: wanted.filter(path => !gone.has(path)),
  }
}

export async function deleteFolder(
  path: string,
  { recursive, expected }: { recursive: boolean; expected: string | null | undefined },
  { services, tree, caller }: DriveContext,
): Promise<{ names: string[]; filesDeleted: number }> {
  const names = parseFilePath(path, 'path')
  const how = { recursive, kind: FOLDER, expected } as const
  const { filesDeleted } = await services.entryChanges.remove(tree, [{ path }], how, caller)
  return { names, filesDeleted }
}
