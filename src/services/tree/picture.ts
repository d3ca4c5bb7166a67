import type { Page } from '../../../db/queries/page.ts'
import {
  countPictures,
  countTrashedPictures,
  foldersOfPictures,
  type PictureRow,
  picturesOf,
  spanOfPictures,
} from '../../../db/queries/picture.ts'
import { InvalidInput } from '../../runtime/errors.ts'
import { figure } from '../../values/limits.ts'
import type { Tree } from '../../values/tree.ts'
import type { Core } from '../core.ts'
import { pathsOfFolders } from './entry-path.ts'

/** A picture or video with its path and its sort time. */
export interface PicturedEntry extends PictureRow {
  names: string[]
}

/** The number of pictures of a drive taken in a UTC month such as 2024-05. */
export interface PictureMonth {
  month: string
  count: number
}

/** Selects pictures of a drive. */
export interface PictureQuery {
  /** In milliseconds since 1970. */
  since: number | null
  until: number | null
  /** The number of newest pictures to skip. */
  skip: number
}

export const MAX_SKIPPED = 100_000
/** The maximum number of trashed folders that a statement can exclude by id. */
const MAX_LEFT_OUT = 10_000

const monthOf = (time: number): string => new Date(time).toISOString().slice(0, 7)

/** The start of each month between two times, and the end of the last one. */
function monthsOf(oldest: number, newest: number): number[] {
  const first = new Date(oldest)
  const times: number[] = []
  for (let month = 0; (times.at(-1) ?? oldest) <= newest || times.length < 2; month++)
    times.push(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + month))
  return times
}

/**
 * The pictures and videos of a drive by time (docs/decisions/gallery.md). Nothing here authorizes:
 * pass only trees that the caller may read.
 */
export function pictureService({ db }: Core<'db'>) {
  return {
    /** The number of pictures in each month that has any, newest first. */
    async months({ bucketId }: Tree): Promise<PictureMonth[]> {
      const span = await spanOfPictures(db, bucketId)
      if (!span) return []
      const times = monthsOf(span.oldest, span.newest)
      const [counts, trashed] = await Promise.all([
        countPictures(db, bucketId, times),
        countTrashedPictures(db, bucketId),
      ])
      const shown = new Map(counts.map((count, i) => [monthOf(times[i] ?? 0), count]))
      for (const { at, count } of trashed)
        shown.set(monthOf(at), (shown.get(monthOf(at)) ?? 0) - count)
      return [...shown].flatMap(([month, count]) => (count > 0 ? [{ month, count }] : [])).reverse()
    },

    /**
     * A page of pictures, newest first. Pictures below a trashed folder are left out and do not
     * count as skipped.
     * @throws INVALID_INPUT
     */
    async page(
      { bucketId, rootId }: Tree,
      { since, until, skip }: PictureQuery,
      limit: number,
      after: readonly [number, string] | null,
    ): Promise<Page<PicturedEntry>> {
      if (skip < 0 || skip > MAX_SKIPPED)
        throw new InvalidInput('skip', `0 to ${figure(MAX_SKIPPED)} pictures can be skipped.`)
      const paths = new Map<string, string[]>()
      const gone = new Set<string>()
      const range = () => ({ since, until, after, without: [...gone].slice(0, MAX_LEFT_OUT) })
      // Each round either finds trashed folders or is the last one, and reads twice as many
      // pictures as the previous round.
      for (let count = skip + limit + 1; gone.size <= MAX_LEFT_OUT; count *= 2) {
        const folders = await foldersOfPictures(db, bucketId, range(), count)
        const unknown = folders.filter(id => !paths.has(id))
        const found = await pathsOfFolders(db, [rootId], unknown)
        for (const [id, path] of found) paths.set(id, path)
        if (found.size === unknown.length) break
        for (const id of unknown) if (!found.has(id)) gone.add(id)
      }
      const rows = await picturesOf(db, bucketId, range(), { skip, limit: limit + 1 })
      const placed = rows.slice(0, limit).flatMap(row => {
        const folder = paths.get(row.parentId ?? '')
        return folder
          ? [{ ...row, picturedAt: Number(row.picturedAt), names: [...folder, row.name] }]
          : []
      })
      return { rows: placed, more: rows.length > limit }
    },
  }
}
