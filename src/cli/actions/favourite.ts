import type { Service } from '../client.ts'
import { withEach } from '../each.ts'
import { Failure } from '../failure.ts'
import { findPlace } from '../find-place.ts'
import {
  AddFavouritesDocument,
  EntryIdDocument,
  FavouritesDocument,
  RecentDocument,
  type RecentQuery,
  RemoveFavouritesDocument,
} from '../generated.ts'
import { ownToken, parseShared } from '../path.ts'
import { driveIn, notFound } from '../place.ts'
import { type Placed, pathWords, placed } from '../placed.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { receivedIdOf } from '../shared-place.ts'
import { bytes, table, when } from '../table.ts'

/**
 * The id of an entry, or of a received share given by its link.
 *
 * @throws NOT_FOUND, SHARE_NOT_FOUND, USAGE
 */
async function idOf(
  service: Service,
  text: string,
): Promise<{ entries: string[] } | { shares: string[] }> {
  const shared = parseShared(text)
  if (!shared) {
    const { place, path } = await findPlace(service, text)
    const { entry } = driveIn(await place.client.request(EntryIdDocument, { ...place.drive, path }))
    if (!entry) throw notFound(place.show(path))
    return { entries: [entry.id] }
  }
  if (shared.path !== '')
    throw new Failure(
      'USAGE',
      `"${text}" is inside of what somebody shares. Only the share as a whole can be marked.`,
    )
  const token = ownToken(shared.link, service.url)
  return { shares: [await receivedIdOf(service.personal, token)] }
}

async function change(context: Context, named: string[], isMarked: boolean): Promise<Answer> {
  const service = await open(context)
  const { done, failures } = await withEach(named, async text => {
    const ids = await idOf(service, text)
    if (isMarked) {
      const input = 'entries' in ids ? { entries: ids.entries.map(id => ({ id })) } : ids
      await service.personal.change(AddFavouritesDocument, input, 'repeatable')
    } else await service.personal.change(RemoveFavouritesDocument, ids, 'repeatable')
    return { path: text }
  })
  return { fact: { [isMarked ? 'starred' : 'unstarred']: done }, words: '', failures }
}

export const star = (context: Context, paths: string[]): Promise<Answer> =>
  change(context, paths, true)
export const unstar = (context: Context, paths: string[]): Promise<Answer> =>
  change(context, paths, false)

interface Marked extends Omit<Placed, 'size' | 'updatedAt'> {
  /** Null for a share. */
  size: number | null
  updatedAt: string | null
  entryId: string | null
  sharedBy: string | null
  createdAt: string
}

export async function favourites(context: Context): Promise<Answer> {
  const { personal } = await open(context)
  const found = (await personal.request(FavouritesDocument, {})).me.favourites
  const all = found.flatMap(({ id, name, createdAt, entry, share }): Marked[] => {
    if (entry) return [{ ...placed(entry), id, entryId: entry.id, sharedBy: null, createdAt }]
    if (!share) return []
    const { url, sharedBy } = share
    return [
      {
        id,
        name,
        path: url,
        kind: 'share',
        size: null,
        updatedAt: null,
        entryId: null,
        sharedBy: sharedBy.email,
        createdAt,
      },
    ]
  })
  const rows = all.map(one => [
    one.size === null ? '' : bytes(one.size),
    one.sharedBy ?? '',
    pathWords(one),
  ])
  return { fact: { favourites: all }, words: rows.length > 0 ? table([], rows) : '' }
}

/** Page size: the most that the service returns. */
const AT_ONCE = 1000

export async function recent(context: Context, limit: number): Promise<Answer> {
  const { personal } = await open(context)
  const found: (Placed & { did: string; happenedAt: string })[] = []
  let after: string | null = null
  do {
    const first = Math.min(AT_ONCE, limit - found.length)
    const { me }: RecentQuery = await personal.request(RecentDocument, { first, after })
    const { nodes, pageInfo }: RecentQuery['me']['recent'] = me.recent
    for (const { kind, happenedAt, entry } of nodes)
      found.push({ ...placed(entry), did: eventOf(kind), happenedAt })
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null
  } while (after !== null && found.length < limit)
  const rows = found.map(one => [when(one.happenedAt), one.did, pathWords(one)])
  return {
    fact: { recent: found, hasMore: after !== null },
    words: rows.length > 0 ? table([], rows) : '',
  }
}

/** The event type as in REST and webhooks: FILE_CREATED becomes file.created. */
const eventOf = (kind: string): string => kind.toLowerCase().replace('_', '.')
