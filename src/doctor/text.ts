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
 * Checks that every text has a content, that the index has no rows of deleted drives, and that
 * every file with a text is indexed or queued.
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
      // The service extracts the text later, so whether it succeeds is not known yet.
      repair: () =>
        db.transaction(tx => enqueueAll(db, 'contents', [{ blobId, fileType, format }], tx)),
    }
  }
}
