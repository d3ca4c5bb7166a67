import type { Column } from '../../db/search/expression.ts'
import type { SearchIndex } from '../../db/search/index.ts'

const columns = {
  name: ['word', 'part'],
  body: ['text', 'extra', 'note', 'name'],
} as const satisfies Record<string, Column[]>

/**
 * The ids of the entries that a search index has for a word, in any drive, whether or not
 * searches show them.
 */
export async function idsWithWord(index: SearchIndex, word: string): Promise<string[]> {
  const drives = (await index.ask('drivesAfter', '', 10_000)).map(({ number }) => number)
  const ids = new Set<string>()
  for (const table of ['name', 'body'] as const) {
    const condition = { in: columns[table], words: [word] }
    const search = { table, condition, drives, before: null, limit: 10_000 }
    const { hits } = await index.ask('find', { ...search, until: Date.now() + 10_000 })
    for (const { id } of hits) ids.add(id)
  }
  return [...ids].sort()
}

/** Makes an index lack some entries of a drive, as after an error. */
export async function loseEntries(
  index: SearchIndex,
  bucketId: string,
  gone: readonly string[],
): Promise<void> {
  const [drive] = await index.ask('drives', [bucketId])
  if (drive) await index.ask('add', drive, { docs: [], gone }, null)
}
