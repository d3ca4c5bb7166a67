import { withEach } from '../each.ts'
import { Failure } from '../failure.ts'
import { findPlace, isId } from '../find-place.ts'
import { isSafeName, splitPath } from '../path.ts'
import type { Place } from '../place.ts'
import { startProgress } from '../progress.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { bytes, table, when } from '../table.ts'
import { plain } from '../text.ts'
import { getFile } from '../transfer/get-file.ts'
import { lineOf, summaryOf } from '../transfer/summary.ts'

export async function list(context: Context, text: string): Promise<Answer> {
  const { place, path } = await findPlace(await open(context), text)
  const found = await place.versions.of(path)
  const rows = found.map(({ id, size, createdAt, createdBy, replacedAt, expiresAt }) => [
    when(createdAt),
    createdBy?.email ?? '',
    bytes(size),
    when(replacedAt),
    when(expiresAt),
    place.showId(id),
  ])
  const versions = found.map(({ md5, createdBy, ...version }) => ({
    ...version,
    md5Checksum: md5,
    createdBy: createdBy?.email ?? null,
  }))
  return {
    fact: { path: place.show(path), versions },
    words: rows.length > 0 ? table(['MADE', 'BY', 'SIZE', 'REPLACED', 'UNTIL', 'ID'], rows) : '',
  }
}

export interface GetVersionOptions {
  output?: string
  force?: boolean
}

export async function get(
  context: Context,
  text: string,
  { output, force }: GetVersionOptions,
): Promise<Answer> {
  const { place, id } = await locate(context, text)
  const { size, md5, modifiedAt, path } = await place.versions.find(id)
  const { name } = splitPath(path)
  if (output === undefined && !isSafeName(name))
    throw new Failure(
      'USAGE',
      `The name of ${place.show(path)} is not allowed on this computer. Choose one with -o.`,
    )
  const link = async () => (await place.versions.find(id)).url
  const source = {
    shown: place.show(path),
    size,
    md5Checksum: md5,
    modifiedAt: new Date(modifiedAt),
    link,
  }
  const progress = await startProgress(context)
  try {
    progress.expect(1, size)
    context.resumeHint = 'Run the same command to resume.'
    const to = output ?? name
    const got = await getFile(source, to, {
      patience: context.patience,
      progress,
      force: force ?? false,
    })
    const fetched = { source: source.shown, path: to, ...got }
    progress.done(lineOf(fetched))
    return { fact: { files: [fetched] }, words: summaryOf([fetched], context) }
  } finally {
    progress.stop()
  }
}

export async function restore(context: Context, named: string[]): Promise<Answer> {
  const { done, failures } = await withEach(named, async text => {
    const { place, id } = await locate(context, text)
    return { id, path: place.show(await place.versions.restore(id)) }
  })
  const says = context.verbose || Boolean(process.stdout.isTTY)
  const words = says ? done.map(({ path }) => plain(`Restored ${path}`)).join('\n') : ''
  return { fact: { restored: done }, words, failures }
}

export async function remove(context: Context, named: string[]): Promise<Answer> {
  const { done, failures } = await withEach(named, async text => {
    const { place, id } = await locate(context, text)
    await place.versions.remove(id)
    return { id }
  })
  return { fact: { deleted: done }, words: '', failures }
}

/**
 * A version by its id, prefixed with the workspace of its file.
 *
 * @throws USAGE
 */
async function locate(context: Context, text: string): Promise<{ place: Place; id: string }> {
  const { place, path: id } = await findPlace(await open(context), text)
  if (!isId(id))
    throw new Failure(
      'USAGE',
      `"${text}" is not an id. satchel versions list shows the ids of a file's versions.`,
    )
  return { place, id }
}
