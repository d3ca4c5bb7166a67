import type { Db } from '../../../db/index.ts'
import {
  filesOfText,
  filesOfTexts,
  lastDocUpTo,
  type TextRow,
} from '../../../db/queries/search-text.ts'
import type { Term } from '../../values/search-query.ts'
import type { TextDrive, TextMatches, WithForms } from './text-match.ts'

/**
 * Contents whose files are read together, and the files that are: where these have more, content by
 * content.
 */
const AT_ONCE = 100
const FILES = 1000

/** All files of a content, however many copies it has. */
async function* copiesOf(db: Db, drive: TextDrive, doc: number): AsyncGenerator<TextRow[]> {
  for (let before: string | null = null; ; ) {
    const rows: TextRow[] = await filesOfText(db, drive, doc, before, FILES)
    yield rows
    if (rows.length < FILES) return
    before = rows.at(-1)?.id ?? null
  }
}

/**
 * The files of a drive whose texts have all words of some terms, by the ids of their contents, the
 * newest first.
 */
async function* ofDrive(
  db: Db,
  drive: TextDrive,
  docs: Iterable<number>,
): AsyncGenerator<TextRow[]> {
  let some: number[] = []
  async function* read(): AsyncGenerator<TextRow[]> {
    const rows = await filesOfTexts(db, drive, some, FILES)
    if (rows.length < FILES) yield rows.sort(byNewest)
    else for (const doc of some) yield* copiesOf(db, drive, doc)
    some = []
  }
  for (const doc of docs) {
    some.push(doc)
    if (some.length === AT_ONCE) yield* read()
  }
  if (some.length > 0) yield* read()
}

/**
 * The files whose texts have all words of some terms, in batches, those of the newest contents
 * first.
 * @param after the key of the last file of the page before
 */
export async function* byText(
  db: Db,
  drives: readonly TextDrive[],
  texts: TextMatches,
  terms: readonly Term[],
  after: readonly [rank: number, order: string, id: string] | null,
  which: WithForms = 'none',
): AsyncGenerator<TextRow[]> {
  const lists: { rows: TextRow[]; more: AsyncGenerator<TextRow[]> }[] = []
  for (const drive of drives) {
    const docs = texts.inDrive(drive.number, terms, which)
    if (!docs) continue
    const last = after ? await lastDocUpTo(db, drive.number, after[1]) : drive.docs
    lists.push({ rows: [], more: ofDrive(db, drive, docs.downFrom(last + 1)) })
  }
  const isAfter = ({ textId, id }: TextRow) =>
    !after || textId < after[1] || (textId === after[1] && id < after[2])

  /** Reads on where a drive has nothing left. */
  async function fill(list: (typeof lists)[number]): Promise<boolean> {
    while (list.rows.length === 0) {
      const { value, done } = await list.more.next()
      if (done) return false
      list.rows = value.filter(isAfter)
    }
    return true
  }

  for (;;) {
    const batch: TextRow[] = []
    let open = [...lists]
    while (batch.length < AT_ONCE) {
      const filled: typeof lists = []
      for (const list of open) if (await fill(list)) filled.push(list)
      open = filled
      const best = open.reduce<(typeof lists)[number] | undefined>(
        (best, list) => (!best || byNewest(list.rows[0], best.rows[0]) < 0 ? list : best),
        undefined,
      )
      const row = best?.rows.shift()
      if (!row) break
      batch.push(row)
    }
    if (batch.length > 0) yield batch
    if (batch.length < AT_ONCE) return
  }
}

function byNewest(a: TextRow | undefined, b: TextRow | undefined): number {
  if (!a || !b) return a ? -1 : 1
  if (a.textId !== b.textId) return a.textId < b.textId ? 1 : -1
  return a.id < b.id ? 1 : -1
}
