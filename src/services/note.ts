import type { Db } from '../../db/index.ts'
import type { Viewer } from '../auth/viewer.ts'
import { AppError, InvalidInput } from '../errors.ts'
import type { FileService } from './file.ts'

export const MAX_NOTE = 10_000

/** Notes belong to (user, checksum): they follow the content through moves, and equal copies share one. */
export function noteService({ db, files }: { db: Db; files: FileService }) {
  async function requireContent(viewer: Viewer, checksum: string): Promise<string> {
    const md5 = checksum.toLowerCase()
    if (!/^[0-9a-f]{32}$/.test(md5) || !(await files.holds(viewer.bucket, md5)))
      throw new AppError('FILE_NOT_FOUND', 'You have no file with this checksum. Take md5_checksum from a listing.', {
        checksum,
      })
    return md5
  }

  return {
    /** The note of a content, "" when there is none yet. @throws FILE_NOT_FOUND */
    async read(viewer: Viewer, checksum: string): Promise<string> {
      const md5 = await requireContent(viewer, checksum)
      const [row] = await db.rows<{ content: string }>('SELECT content FROM note WHERE user_id = ? AND checksum = ?', [
        viewer.userId,
        md5,
      ])
      return row?.content ?? ''
    },

    /** Writes the note of a content; "" removes it. Answers what stands now. @throws FILE_NOT_FOUND */
    async write(viewer: Viewer, checksum: string, content: string): Promise<string> {
      if ([...content].length > MAX_NOTE) throw new InvalidInput('content', `A note has up to ${MAX_NOTE} characters.`)
      if (/\p{Surrogate}/u.test(content))
        throw new InvalidInput('content', 'A note is text; this holds half a character.')
      const md5 = await requireContent(viewer, checksum)
      await db.transaction(async tx => {
        await db.run('DELETE FROM note WHERE user_id = ? AND checksum = ?', [viewer.userId, md5], tx)
        if (content !== '')
          await db.run(
            'INSERT INTO note (user_id, checksum, content, updated_at) VALUES (?, ?, ?, ?)',
            [viewer.userId, md5, content, Date.now()],
            tx,
          )
      })
      return content
    },
  }
}

export type NoteService = ReturnType<typeof noteService>
