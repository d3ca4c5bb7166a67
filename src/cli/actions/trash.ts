import { withEach } from '../each.ts'
import { Failure } from '../failure.ts'
import { findPlace, isId, placeIn } from '../find-place.ts'
import { allOf } from '../pages.ts'
import type { Place } from '../place.ts'
import { confirm } from '../prompt.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { bytes, plural, table, when } from '../table.ts'
import { plain } from '../text.ts'
import { type ConflictWord, conflictWords, wordOf } from '../words.ts'

export async function list(context: Context, workspace: string | undefined): Promise<Answer> {
  const place = await placeIn(await open(context), workspace)
  const found = await allOf(place.trash.items())
  const rows = found.map(({ id, path, kind, size, deletedAt, deletedBy, expiresAt }) => [
    when(deletedAt),
    deletedBy?.email ?? '',
    bytes(size),
    when(expiresAt),
    place.showId(id),
    `${place.show(path)}${kind === 'FOLDER' ? '/' : ''}`,
  ])
  const items = found.map(({ path, kind, deletedBy, ...item }) => ({
    ...item,
    path: place.show(path),
    kind: wordOf(kind),
    deletedBy: deletedBy?.email ?? null,
  }))
  return {
    fact: { items },
    words: rows.length > 0 ? table(['DELETED', 'BY', 'SIZE', 'UNTIL', 'ID', 'PATH'], rows) : '',
  }
}

export interface RestoreOptions {
  to?: string
  onConflict: ConflictWord
}

export async function restore(
  context: Context,
  named: string[],
  { to, onConflict }: RestoreOptions,
): Promise<Answer> {
  const service = await open(context)
  const target = to === undefined ? undefined : await findPlace(service, to)
  const { done, failures } = await withEach(named, async text => {
    const { place, path } = await findPlace(service, text)
    if (target && place.key !== target.place.key)
      throw new Failure(
        'USAGE',
        'Files can only be restored to the drive from which they were deleted.',
      )
    const id = isItemId(text, path) ? path : await newestAt(place, path)
    const now = await place.trash.restore(id, target?.path, conflictWords[onConflict])
    return { id, path: place.show(now) }
  })
  const says = context.verbose || Boolean(process.stdout.isTTY)
  const words = says ? done.map(({ path }) => plain(`Restored ${path}`)).join('\n') : ''
  return { fact: { restored: done }, words, failures }
}

/** Paths that look like an id need a leading slash. */
const isItemId = (text: string, path: string): boolean => isId(path) && !text.includes('/')

/**
 * The id of the most recently deleted item with a path.
 *
 * @throws NOT_FOUND
 */
async function newestAt(place: Place, path: string): Promise<string> {
  const names = path.normalize('NFC').split(/\/+/).join('/')
  for await (const item of place.trash.items()) if (item.path === names) return item.id
  const shown = place.show(path)
  const sentence = `There is no ${shown} in the trash. satchel trash list shows its items; a file in a deleted folder can only be restored with the folder.`
  throw new Failure('NOT_FOUND', sentence, { path: shown })
}

export async function remove(context: Context, named: string[]): Promise<Answer> {
  const service = await open(context)
  const { done, failures } = await withEach(named, async text => {
    const { place, path } = await findPlace(service, text)
    if (!isItemId(text, path))
      throw new Failure(
        'USAGE',
        `"${text}" is not an id. satchel trash list shows the ids of the items in the trash.`,
      )
    await place.trash.remove(path)
    return { id: path }
  })
  return { fact: { deleted: done }, words: '', failures }
}

export async function empty(
  context: Context,
  workspace: string | undefined,
  sure: boolean,
): Promise<Answer> {
  const place = await placeIn(await open(context), workspace)
  if (!sure) {
    const what = `everything in the trash of ${workspace ?? 'your files'} permanently`
    if (!process.stdin.isTTY || context.json)
      throw new Failure('USAGE', `This deletes ${what}. Add --yes to confirm.`)
    await confirm(
      `Delete ${what}? This cannot be undone.`,
      'Nothing was deleted.',
      context.patience.signal,
    )
  }
  const count = await place.trash.empty()
  const says = context.verbose || Boolean(process.stdout.isTTY)
  return {
    fact: { deleted: count },
    words: says ? `${plural(count, 'item')} deleted permanently.` : '',
  }
}
