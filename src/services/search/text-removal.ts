import type { Db } from '../../../db/index.ts'
import {
  endUnusedText,
  liveBlobWith,
  liveFileWith,
  textBodies,
} from '../../../db/queries/content-text.ts'
import { textsOfDigest } from '../../../db/queries/search-text.ts'
import { deleteSearchedText } from '../../../db/queries/text-block.ts'
import { textFormatOf } from '../../values/text-format.ts'
import { enqueueAll } from '../notices/outbox.ts'
import { indexedWords, textOfBody } from './content-text.ts'

/** The words of a text that was made; null if there is none, or none that can be read. */
export async function storedWords(db: Db, digest: string): Promise<string[] | null> {
  const body = (await textBodies(db, [digest])).get(digest)
  const text = body && (await textOfBody(body))
  return typeof text === 'string' ? indexedWords(text) : null
}

/**
 * Deletes the text of a content that no live blob has, from all drives first: what is left of it is
 * known until all is gone.
 */
export async function removeText(db: Db, digest: string): Promise<void> {
  if (await db.transaction(tx => liveBlobWith(db, digest, tx))) return
  for (const { drive, doc } of await textsOfDigest(db, digest))
    await deleteSearchedText(db, drive, doc)
  await db.transaction(async tx => {
    if (await endUnusedText(db, digest, tx)) return
    // The same content has arrived meanwhile.
    const file = await liveFileWith(db, digest, tx)
    const format = file && textFormatOf(file.name, file.fileType)
    if (!format) return
    const { blobId, fileType } = file
    await enqueueAll(db, 'contents', [{ blobId, format, fileType }], tx)
  })
}
