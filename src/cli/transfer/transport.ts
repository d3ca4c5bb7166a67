import type { Transport } from '../../upload-engine/job.ts'
import { Failure, isFailure } from '../failure.ts'
import { joinPath } from '../path.ts'
import { framed, observed } from './body.ts'
import { uploadForm } from './form.ts'
import type { Body } from './local-file.ts'
import type { Target } from './target.ts'

/** The response of either upload route. */
type UploadAnswer = { file: { md5_checksum: string } } | [{ md5_checksum: string }]

export const md5In = (answer: UploadAnswer): string => (Array.isArray(answer) ? answer[0] : answer.file).md5_checksum

/** Uploads into a place: bytes by REST, all else by the graph. */
export function transportOf({ place, replaces }: Pick<Target, 'place' | 'replaces'>): Transport<Body> {
  const { client, route, uploads } = place
  return {
    host: new URL(client.url).host,
    start: (aim, size) => uploads.start({ ...aim, size, ...(replaces ? { onConflict: 'REPLACE' } : {}) }),
    received: ({ uploadId }) => uploads.received(uploadId),
    complete: ({ uploadId }, aim, md5) => uploads.complete(uploadId, { ...aim, md5 }),
    abort: ({ uploadId }) => uploads.abort(uploadId),

    async sendPart({ uploadId }, { number, size, md5, body }, { signal, sent }) {
      await client.rest(`${route}/uploads/${uploadId}/parts/${number}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/octet-stream', 'content-length': String(size), 'content-md5': md5 },
        body: observed(body, sent),
        signal,
        limitMs: undefined,
      })
    },

    async sendWhole({ folder, fileName }, { body, size }, { signal, sent }) {
      const { type, head, tail } = uploadForm({ folder, name: fileName, replaces })
      const answer = await client.rest<UploadAnswer>(`${route}/upload`, {
        method: 'POST',
        headers: { 'content-type': type, 'content-length': String(head.length + size + tail.length) },
        body: framed(head, observed(body, sent), tail),
        signal,
        limitMs: undefined,
      })
      return md5In(answer)
    },

    async find({ folder, fileName }) {
      try {
        const found = await place.find(joinPath(folder, fileName))
        return found?.kind === 'file' ? { size: found.file.size, md5: found.file.md5Checksum } : null
      } catch (error) {
        if (isFailure(error, 'INSUFFICIENT_SCOPE')) return null
        throw error
      }
    },

    async remove({ folder, fileName }) {
      // What was there before is among its versions: it must not go with it.
      if (replaces) throw new Failure('PATH_EXISTS', 'A file that was replaced is not removed.')
      await place.remove(joinPath(folder, fileName), false)
    },
  }
}
