import { text as readAll } from 'node:stream/consumers'
import { Failure } from '../failure.ts'
import { findPlace } from '../find-place.ts'
import { NoteDocument, WriteNoteDocument } from '../generated.ts'
import { notFound } from '../place.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { plain } from '../text.ts'

/**
 * @param content the note, `-` for standard input, empty to remove the note; undefined to print it
 */
export async function note(
  context: Context,
  named: string,
  content: string | undefined,
): Promise<Answer> {
  const service = await open(context)
  const { place, path } = await findPlace(service, named)
  if (place.key !== '') throw new Failure('USAGE', 'Files of workspaces have no notes.')
  const { entry } = (await service.personal.request(NoteDocument, { path })).me.drive
  if (!entry || !('md5' in entry)) throw notFound(place.show(path))
  if (content === undefined) {
    const { note } = entry
    return {
      fact: { path: place.show(path), note },
      words: (note ?? '').split('\n').map(plain).join('\n'),
    }
  }
  const written = content === '-' ? (await readAll(process.stdin)).trimEnd() : content
  const input = { md5: entry.md5, content: written }
  const { note } = await service.personal.change(WriteNoteDocument, input, 'repeatable')
  return { fact: { path: place.show(path), note }, words: '' }
}
