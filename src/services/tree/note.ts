import type { Db } from '../../../db/index.ts'
import { raiseCount, uncountNote } from '../../../db/queries/bucket.ts'
import { hasContent, notesOf } from '../../../db/queries/note.ts'
import type { Caller, Writer } from '../../access/caller.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import { figure, MAX_NOTE } from '../../values/limits.ts'
import type { Tree } from '../../values/tree.ts'
import { takeNote } from '../bound.ts'
import type { Core } from '../core.ts'
import { lockTree, type TreeChange } from './entry.ts'
import type { ListingService } from './listing.ts'

/**
 * Moves the note on a file to the file's new content, unless that content has a note. The old
 * content keeps it if another file has that content, too. The limit on notes applies.
 */
export async function carryNote(
  db: Db,
  tree: Tree,
  { from, to }: { from: string; to: string },
  caller: Writer,
  { tx, record }: TreeChange,
): Promise<void> {
  // Workspaces have no notes.
  if (from === to || caller.via === 'file_request') return
  if (tree.share ? tree.share.drive.front : tree.bucketId !== caller.bucket.bucketId) return
  const { bucketId } = tree
  const notes = await notesOf(db, bucketId, [from, to], tx)
  const content = notes.get(from)
  if (content === undefined || notes.has(to)) return
  if (await hasContent(db, bucketId, from, tx)) {
    // An editor of a share adds no notes to another person's drive.
    if (tree.share) return
    if (!(await raiseCount(db, bucketId, 'note_count', caller.bounds.maxNotes, tx))) return
    await db.Note.create(
      { bucketId, checksum: to, content, updatedAt: Date.now() },
      { transaction: tx },
    )
  } else {
    await db.Note.update({ checksum: to }, { where: { bucketId, checksum: from }, transaction: tx })
    record({ kind: 'note.removed', subject: null, details: { md5: from } })
  }
  record({ kind: 'note.written', subject: null, details: { md5: to } })
}

/**
 * A note belongs to a storage area and a checksum. It follows the content through moves, and equal
 * copies share one note.
 */
export function noteService({
  db,
  change,
  listings,
}: Core<'db' | 'change'> & { listings: ListingService }) {
  async function requireContent(caller: Caller, checksum: string): Promise<string> {
    const md5 = checksum.toLowerCase()
    if (!/^[0-9a-f]{32}$/.test(md5) || !(await listings.holds(caller.bucket, md5)))
      throw new AppError(
        'FILE_NOT_FOUND',
        'You have no file with this checksum. Use md5_checksum from a listing.',
        {
          checksum,
        },
      )
    return md5
  }

  return {
    /**
     * The notes on some contents by checksum. One statement for up to 1,000. Does not check that
     * the caller has the contents.
     */
    ofContents: ({ bucket }: Caller, checksums: string[]): Promise<Map<string, string>> =>
      notesOf(db, bucket.bucketId, checksums),

    /**
     * The note on a content, or "".
     * @throws FILE_NOT_FOUND
     */
    async read(caller: Caller, checksum: string): Promise<string> {
      const md5 = await requireContent(caller, checksum)
      return (await notesOf(db, caller.bucket.bucketId, [md5])).get(md5) ?? ''
    },

    /**
     * Writes the note of a content; "" removes it. @returns the stored note. @throws
     * FILE_NOT_FOUND, QUOTA_EXCEEDED
     */
    async write(caller: Caller, checksum: string, content: string): Promise<string> {
      if ([...content].length > MAX_NOTE)
        throw new InvalidInput('content', `A note has up to ${figure(MAX_NOTE)} characters.`)
      if (/\p{Surrogate}/u.test(content))
        throw new InvalidInput('content', 'A note is text; this contains an unpaired surrogate.')
      const md5 = await requireContent(caller, checksum)
      const key = { bucketId: caller.bucket.bucketId, checksum: md5 }
      await change(caller, async ({ tx, record }) => {
        // An account that is being deleted must not leave a note behind.
        await lockTree(db, caller.bucket, tx)
        const note = { content, updatedAt: Date.now() }
        if (content === '') {
          const removed = await db.Note.destroy({ where: key, transaction: tx })
          if (removed === 0) return
          await uncountNote(db, key.bucketId, tx)
          record(key.bucketId, { kind: 'note.removed', subject: null, details: { md5 } })
          return
        }
        record(key.bucketId, { kind: 'note.written', subject: null, details: { md5 } })
        const [changed] = await db.Note.update(note, { where: key, transaction: tx })
        if (changed > 0) return
        await takeNote(db, caller, tx)
        await db.Note.create({ ...key, ...note }, { transaction: tx })
      })
      return content
    },
  }
}
