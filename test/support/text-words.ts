import type { Db } from '../../db/index.ts'
import { readDocs, readPart } from '../../src/services/search/segment.ts'
import { segmentMerge } from '../../src/services/search/segment-merge.ts'

/** Merges the contents index as the service does some hours later, and deletes the merged rows. */
export async function mergeAll(db: Db): Promise<void> {
  const { run } = segmentMerge(db)
  for (const hours of [2, 4]) while (await run({ now: Date.now() + hours * 3_600_000 }));
}

/** All rows of the contents index for a word or a prefix, whether or not searches read them. */
export async function rowsOfWord(
  db: Db,
  beginning: string,
): Promise<{ drive: number; block: number; epoch: number; word: string; docs: number[] }[]> {
  type Place = { drive: number; block: number; epoch: number }
  const fresh = await db.rows<Place & { word: string; docs: Uint8Array }>(
    'SELECT * FROM search_text_word',
  )
  const found = fresh.map(({ docs, ...row }) => ({ ...row, docs: readDocs(docs) }))
  for (const { body, ...row } of await db.rows<Place & { body: Uint8Array }>(
    'SELECT * FROM search_text_segment',
  ))
    for (const { word, docs } of await readPart(body))
      found.push({ ...row, word: word.toString(), docs: docs() })
  return found.filter(({ word }) => word.startsWith(beginning))
}
