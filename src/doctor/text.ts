import {
  filesWithoutTextAfter,
  unusedTextsAfter,
  waitingTexts,
} from '../../db/queries/content-text.ts'
import { eventOf } from '../../db/queries/event.ts'
import { entriesInOrder, logEnds, searchEpoch } from '../../db/queries/search.ts'
import { damageOf, deleteIndex, SearchInspection } from '../../db/search/inspect.ts'
import type { IndexedDrive } from '../../db/search/writing.ts'
import { enqueueAll } from '../services/job.ts'
import { contentsJob, hasText, removeText } from '../services/search/search-text.ts'
import { textFormatOf } from '../values/text-format.ts'
import { type Installation, type Problem, rowsOf } from './check.ts'

const PAGE = 500

/** Checks that every text has a content, and that every file with a text has it or is queued. */
export async function* checkTexts({
  db,
  graceMs,
  searchContents = false,
}: Installation): AsyncGenerator<Problem> {
  for await (const { id } of rowsOf(after => unusedTextsAfter(db, after, PAGE)))
    yield {
      kind: 'text-unused',
      id,
      message: 'No file has the content of this text.',
      repair: () => removeText(db, id),
    }
  if (!searchContents) return
  const waiting = await waitingTexts(db)
  const before = Date.now() - graceMs
  for await (const file of rowsOf(after => filesWithoutTextAfter(db, { after, before }, PAGE))) {
    const { id, blobId, name, fileType } = file
    const format = hasText(file) ? textFormatOf(name, fileType) : null
    if (!format || waiting.has(blobId)) continue
    yield {
      kind: 'text-missing',
      id,
      message: 'The content of this file is not searched, and nothing is about to read it.',
      // The service extracts the text later, so whether it succeeds is not known yet.
      repair: () =>
        db.transaction(tx => enqueueAll(db, contentsJob, [{ blobId, fileType, format }], tx)),
    }
  }
}

/** Checks that the search index is intact, and that it has the entries of the drives. */
export async function* checkSearchIndex({
  db,
  graceMs,
  searchFile,
}: Installation): AsyncGenerator<Problem> {
  if (searchFile === undefined) return
  const damage = damageOf(searchFile)
  if (damage !== null) {
    yield {
      kind: 'search-damaged',
      id: searchFile,
      message: `The search index is damaged (${damage}). The service makes it again.`,
      repair: async () => deleteIndex(searchFile),
    }
    return
  }
  const index = SearchInspection.open(searchFile, await searchEpoch(db))
  if (!index) return
  try {
    for (const drive of index.drives())
      if (await lacksEntry({ db, graceMs }, index, drive))
        yield {
          kind: 'search-missing',
          id: drive.bucketId,
          message: 'The search index lacks files of this drive.',
          repair: async () => {
            const at = (await eventOf(db, drive.bucketId, drive.seq))?.at ?? null
            index.restart(drive.bucketId, { seq: drive.seq, stamp: at })
          },
        }
  } finally {
    index.close()
  }
}

/** Whether a drive that is indexed up to its last event has an entry that is not in the index. */
async function lacksEntry(
  { db, graceMs }: Pick<Installation, 'db' | 'graceMs'>,
  index: SearchInspection,
  { bucketId, number, place, seq }: IndexedDrive,
): Promise<boolean> {
  const [end] = await logEnds(db, [{ bucketId, seq }])
  if (!end || place !== null || end.head !== seq) return false
  const before = Date.now() - graceMs
  const ids = index.ids(number)
  let next = ids.next()
  const entries = (after: string) => entriesInOrder(db, bucketId, after, PAGE)
  for await (const { id, name, updatedAt } of rowsOf(entries)) {
    while (!next.done && next.value < id) next = ids.next()
    const isThere = !next.done && next.value === id
    if (!isThere && name !== '' && updatedAt <= before) return true
  }
  return false
}
