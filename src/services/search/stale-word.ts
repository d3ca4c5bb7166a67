import type { Db } from '../../../db/index.ts'
import { FOLDER } from '../../../db/models/entry.ts'
import { notesOf } from '../../../db/queries/note.ts'
import { deleteWord, deleteWords, type WordRow } from '../../../db/queries/search-drive.ts'
import { classWord, noteWord, wholeName } from '../../../db/queries/search-word.ts'
import { deleteTextIndex } from '../../../db/queries/text-block.ts'
import { fileClassOf } from '../../formats/file-class.ts'
import { fold, wordsOfName } from '../../values/search-words.ts'
import { firstWordsOf } from './search-index.ts'

const ofNote = ({ word }: WordRow): boolean => word.startsWith(noteWord(''))

/** Whether an entry that is there has no such word in its name any longer. */
function isOfFormerName({ name, kind, fileType, word }: WordRow): boolean {
  if (name === null) return false
  if (word.startsWith(wholeName(''))) return word !== wholeName(fold(name))
  if (!word.startsWith(classWord(''))) return !wordsOfName(name).has(word)
  const fileClass = kind === FOLDER ? 'folder' : fileClassOf(name, fileType ?? '')
  return fileClass === null || word !== classWord(fileClass)
}

/**
 * Deletes those of some words of the index that are of what is gone, or of former names and notes.
 */
export async function deleteStaleWords(db: Db, rows: readonly WordRow[]): Promise<void> {
  const stale = rows.filter(row => row.name === null || (!ofNote(row) && isOfFormerName(row)))
  if (stale.length > 0)
    await db.transaction(async tx => {
      for (const row of stale) await deleteWord(db, row, tx)
    })
  const noted = Map.groupBy(
    rows.filter(row => row.name !== null && ofNote(row)),
    ({ bucketId }) => bucketId ?? '',
  )
  for (const [bucketId, some] of noted) await deleteStaleNotes(db, bucketId, some)
}

async function deleteStaleNotes(db: Db, bucketId: string, rows: readonly WordRow[]): Promise<void> {
  const md5s = [...new Set(rows.flatMap(({ md5 }) => md5 ?? []))]
  const wordsOf = async (tx?: Parameters<typeof notesOf>[3]) =>
    new Map(
      Array.from(await notesOf(db, bucketId, md5s, tx), ([md5, note]) => [
        md5,
        new Set(firstWordsOf(note)),
      ]),
    )
  const isStale = (words: Map<string, Set<string>>, { md5, word }: WordRow) =>
    !words.get(md5 ?? '')?.has(word)
  const before = await wordsOf()
  const stale = rows.filter(row => isStale(before, row))
  if (stale.length === 0) return
  await db.transaction(async tx => {
    // A note that has been written since may have the word again.
    const now = await wordsOf(tx)
    for (const row of stale) if (isStale(now, row)) await deleteWord(db, row, tx)
  })
}

/** Rows of one statement. */
const ROWS = 500

/** Deletes what the index has of a drive, some rows at a time. @returns whether all is gone */
export async function deleteDriveIndex(
  db: Db,
  number: number,
  isStopped = () => false,
): Promise<boolean> {
  while (!isStopped() && (await deleteWords(db, number, ROWS)) > 0);
  while (!isStopped() && (await deleteTextIndex(db, ROWS, number)) > 0);
  return !isStopped()
}
