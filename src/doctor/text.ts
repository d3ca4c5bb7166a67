import {
  filesWithoutTextAfter,
  unusedTextsAfter,
  waitingTexts,
} from '../../db/queries/content-text.ts'
import { numbersWithoutDrive } from '../../db/queries/search-drive.ts'
import { enqueueAll } from '../services/notices/outbox.ts'
import { hasText } from '../services/search/search-text.ts'
import { deleteDriveIndex } from '../services/search/stale-word.ts'
import { removeText } from '../services/search/text-removal.ts'
import { textFormatOf } from '../values/text-format.ts'
import { type Installation, type Problem, rowsOf } from './check.ts'

const PAGE = 500

/**
 * Every text has a content, the index has nothing of drives that are gone, and every file that has
 * a text can be found by it: it is indexed, or about to be.
 */
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
  for (const number of await numbersWithoutDrive(db))
    yield {
      kind: 'search-leftover',
      id: `${number}`,
      message: 'The index of the search has words of a drive that is gone.',
      repair: () => deleteDriveIndex(db, number),
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
      // The service reads it: whether it can is known later.
      repair: () =>
        db.transaction(tx => enqueueAll(db, 'contents', [{ blobId, fileType, format }], tx)),
    }
  }
}
