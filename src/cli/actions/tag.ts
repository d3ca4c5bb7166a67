import { tagKey } from '../../values/tag-key.ts'
import { Failure } from '../failure.ts'
import { findPlace, placeIn } from '../find-place.ts'
import {
  CreateTagDocument,
  DeleteTagDocument,
  type TagColour,
  TagEntriesDocument,
  TaggedEntriesDocument,
  type TagRowFragment,
  TagsDocument,
  UpdateTagDocument,
} from '../generated.ts'
import { allPages } from '../pages.ts'
import { driveIn, type Place } from '../place.ts'
import { pathWords, placed, rowOf } from '../placed.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { plural, table } from '../table.ts'
import { plain } from '../text.ts'
import { type Colour, wordOf } from '../words.ts'

const colourOf = (colour: Colour) => colour.toUpperCase() as TagColour

const shown = ({ colour, ...tag }: TagRowFragment) => ({ ...tag, colour: wordOf(colour) })

/** The tags of a drive, with the id of the drive. */
export const tagsIn = async ({ client, drive }: Place) =>
  driveIn(await client.request(TagsDocument, drive))

/** @throws TAG_NOT_FOUND */
export async function findTag(place: Place, name: string): Promise<TagRowFragment> {
  const { tags } = await tagsIn(place)
  const found = tags.find(tag => tagKey(tag.name) === tagKey(name))
  if (found) return found
  const root = place.show('')
  throw new Failure(
    'TAG_NOT_FOUND',
    `There is no tag "${name}" in ${root}. satchel tag list shows the tags.`,
    { name },
  )
}

export async function list(context: Context, workspace: string | undefined): Promise<Answer> {
  const place = await placeIn(await open(context), workspace)
  const tags = (await tagsIn(place)).tags.map(shown)
  const rows = tags.map(({ name, colour, entryCount }) => [
    name,
    colour,
    plural(entryCount, 'entry', 'entries'),
  ])
  return { fact: { tags }, words: rows.length > 0 ? table([], rows) : '' }
}

export interface AddOptions {
  create?: boolean
  colour?: Colour
}

/** Adds a tag to entries of one drive or removes it, for all entries or none. */
async function change(
  context: Context,
  named: string[],
  name: string,
  adds: boolean,
  options: AddOptions = {},
) {
  const service = await open(context)
  const found = await Promise.all(named.map(text => findPlace(service, text)))
  const [first] = found
  if (!first) throw new Failure('USAGE', 'Name a file or folder.')
  const { place } = first
  if (found.some(other => other.place.key !== place.key))
    throw new Failure(
      'USAGE',
      'A tag belongs to one drive. Name files and folders of one drive at a time.',
    )
  const tag = await findTag(place, name).catch(error => {
    if (!adds || !options.create || !(error instanceof Failure) || error.code !== 'TAG_NOT_FOUND')
      throw error
    return make(place, name, options.colour)
  })
  const entries = await Promise.all(found.map(({ path }) => place.at(path)))
  const input = { entries, [adds ? 'add' : 'remove']: [tag.id] }
  const answer = await place.client.change(TagEntriesDocument, input, 'repeatable')
  const tagged = (answer.entries ?? []).map(({ path, tags }) => ({
    path: place.show(path.replace(/^\//, '')),
    tags: tags.map(one => one.name),
  }))
  const says = context.verbose || Boolean(process.stdout.isTTY)
  const words = says
    ? tagged.map(({ path, tags }) => plain(`${path}: ${tags.join(', ') || 'no tags'}`)).join('\n')
    : ''
  return { fact: { tag: tag.name, entries: tagged }, words }
}

export const add = (
  context: Context,
  name: string,
  paths: string[],
  options: AddOptions,
): Promise<Answer> => change(context, paths, name, true, options)

export const remove = (context: Context, name: string, paths: string[]): Promise<Answer> =>
  change(context, paths, name, false)

async function make(
  place: Place,
  name: string,
  colour: Colour | undefined,
): Promise<TagRowFragment> {
  const drive = place.key === '' ? null : (await tagsIn(place)).id
  const input = { name, drive, ...(colour ? { colour: colourOf(colour) } : {}) }
  return (await place.client.change(CreateTagDocument, input)).tag
}

interface In {
  in?: string
}

export async function create(
  context: Context,
  name: string,
  { in: workspace, colour }: In & Pick<AddOptions, 'colour'>,
): Promise<Answer> {
  const place = await placeIn(await open(context), workspace)
  return { fact: { tag: shown(await make(place, name, colour)) }, words: '' }
}

export async function edit(
  context: Context,
  named: string,
  { in: workspace, name, colour }: In & { name?: string; colour?: Colour },
): Promise<Answer> {
  if (name === undefined && colour === undefined)
    throw new Failure('USAGE', 'Give --name or --colour.')
  const place = await placeIn(await open(context), workspace)
  const { id } = await findTag(place, named)
  const input = { tag: id, name: name ?? null, ...(colour ? { colour: colourOf(colour) } : {}) }
  const { tag } = await place.client.change(UpdateTagDocument, input, 'repeatable')
  return { fact: { tag: shown(tag) }, words: '' }
}

export async function erase(
  context: Context,
  named: string,
  { in: workspace }: In,
): Promise<Answer> {
  const place = await placeIn(await open(context), workspace)
  const { id } = await findTag(place, named)
  await place.client.change(DeleteTagDocument, { tag: id })
  return { fact: { deletedId: id }, words: '' }
}

/**
 * Entries with a tag, in a folder and all its subfolders.
 *
 * @param folder with its drive; defaults to the root of the own drive
 */
export async function tagged(
  context: Context,
  name: string,
  folder: string,
  long: boolean,
): Promise<Answer> {
  const { place, path } = await findPlace(await open(context), folder)
  const tag = await findTag(place, name)
  const all = await allPages(async after => {
    const { node } = await place.client.request(TaggedEntriesDocument, { tag: tag.id, after })
    return node && 'entries' in node ? node.entries : null
  })
  const front =
    path === '' ? '' : `${path.normalize('NFC').split(/\/+/).filter(Boolean).join('/')}/`
  const entries = all
    .filter(entry => entry.path.replace(/^\//, '').startsWith(front))
    .map(entry => ({ ...placed(entry), path: place.show(entry.path.replace(/^\//, '')) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
  const words = long
    ? entries.length > 0
      ? table([], entries.map(rowOf))
      : ''
    : entries.map(entry => plain(pathWords(entry))).join('\n')
  return { fact: { tag: tag.name, path: place.show(path), entries }, words }
}
