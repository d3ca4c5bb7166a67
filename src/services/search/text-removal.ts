import type { Db } from '../../../db/index.ts'
import { endUnusedText, liveBlobWith, textBodies } from '../../../db/queries/content-text.ts'
import { type SearchedText, textsOfDigest } from '../../../db/queries/search-text.ts'
import { enqueueAll } from '../notices/outbox.ts'
import { indexedWords, textOfBody } from './content-text.ts'
import { textIndex } from './text-index.ts'

/** The words of a text that was made; null if there is none, or none that can be read. */
export async function storedWords(db: Db, digest: string): Promise<string[] | null> {
  const body = (await textBodies(db, [digest])).get(digest)
  const text = body && (await textOfBody(body))
  return typeof text === 'string' ? indexedWords(text) : null
}

/** Takes contents from drives. Without its text, only the number of one goes: nothing is found by that. */
export async function removeFromDrives(db: Db, digest: string, rows: readonly SearchedText[]): Promise<void> {
  if (rows.length === 0) return
  const [index, words] = [textIndex(db), (await storedWords(db, digest)) ?? []]
  for (const row of rows) await index.remove(row, words)
}

/** Deletes the text of a content that no live blob has, from all drives first: what is left of it is known until all is gone. */
export async function removeText(db: Db, digest: string): Promise<void> {
  if (await db.transaction(tx => liveBlobWith(db, digest, tx))) return
  await removeFromDrives(db, digest, await textsOfDigest(db, digest))
  await db.transaction(async tx => {
    if (await endUnusedText(db, digest, tx)) return
    // The same content has arrived meanwhile.
    const blob = await liveBlobWith(db, digest, tx)
    if (blob) await enqueueAll(db, 'contents', [{ blobId: blob.id, format: 'text', fileType: 'text/plain' }], tx)
  })
}
