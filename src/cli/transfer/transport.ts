import { copyName } from '../../upload-engine/copy-name.ts'
import type { Receipt, Transport } from '../../upload-engine/job.ts'
import { timeOf } from '../../upload-engine/modified-at.ts'
import { Failure, isFailure } from '../failure.ts'
import type { OnConflict } from '../generated.ts'
import { joinPath } from '../path.ts'
import type { FilesPlace, RemoteFile } from '../place.ts'
import { framed, observed } from './body.ts'
import { uploadForm } from './form.ts'
import type { Body } from './local-file.ts'
import type { Target } from './upload-target.ts'

/** The response of either upload route. */
export type UploadAnswer =
  | { file: { name: string; md5_checksum: string } }
  | [{ file_name: string; md5_checksum: string }]

export const receiptIn = (answer: UploadAnswer): Receipt =>
  Array.isArray(answer)
    ? { fileName: answer[0].file_name, md5: answer[0].md5_checksum }
    : { fileName: answer.file.name, md5: answer.file.md5_checksum }

/**
 * The files that an upload may have created: the one with its name, and if both are kept, those
 * with a number appended.
 */
async function namesakes(
  place: FilesPlace,
  folder: string,
  name: string,
  onConflict: OnConflict,
): Promise<RemoteFile[]> {
  if (onConflict === 'KEEP_BOTH') return namesakesIn((await place.list(folder)).files, name)
  const found = await place.find(joinPath(folder, name))
  return found?.kind === 'file' ? [found.file] : []
}

export function namesakesIn(files: RemoteFile[], name: string): RemoteFile[] {
  const wanted = name.normalize('NFC')
  const isCopy = (name: string) =>
    [...name.matchAll(/ \((\d+)\)/g)].some(([, n]) => copyName(wanted, Number(n)) === name)
  return files.filter(({ name }) => name === wanted || isCopy(name))
}

/** Uploads to a place: file content by REST, everything else by GraphQL. */
export function transportOf({
  place,
  onConflict,
  expectedRevision,
}: Omit<Target, 'progress' | 'parts'>): Transport<Body> {
  const { client, route, uploads } = place
  const ifMatch: Record<string, string> =
    expectedRevision === undefined ? {} : { 'if-match': `"${expectedRevision}"` }
  return {
    host: new URL(client.url).host,
    start: (aim, file) => uploads.start({ ...aim, size: file.size, ...timeOf(file), onConflict }),
    received: ({ uploadId }) => uploads.received(uploadId),
    complete: ({ uploadId }, aim, expected) =>
      uploads.complete(uploadId, { ...aim, ...expected, expectedRevision }),
    outcome: ({ uploadId }) => uploads.outcome(uploadId),
    abort: ({ uploadId }) => uploads.abort(uploadId),

    sendPart: ({ uploadId }, part, attempt) => place.sendPart(uploadId, part, attempt),

    async sendWhole({ folder, fileName }, { body, ...file }, { signal, sent }) {
      const { size } = file
      const { type, head, tail } = uploadForm({
        folder,
        name: fileName,
        onConflict,
        ...timeOf(file),
      })
      const answer = await client.rest<UploadAnswer>(`${route}/upload`, {
        method: 'POST',
        headers: {
          'content-type': type,
          'content-length': String(head.length + size + tail.length),
          ...ifMatch,
        },
        body: framed(head, observed(body, sent), tail),
        signal,
        limitMs: undefined,
      })
      return receiptIn(answer)
    },

    async find({ folder, fileName }) {
      try {
        const found = await namesakes(place, folder, fileName, onConflict)
        return found.map(({ name, size, md5Checksum: md5 }) => ({ fileName: name, size, md5 }))
      } catch (error) {
        if (isFailure(error, 'INSUFFICIENT_SCOPE')) return []
        throw error
      }
    },

    async remove({ folder, fileName }) {
      // Deleting the new file would also delete its versions, including the replaced content.
      if (onConflict === 'REPLACE')
        throw new Failure('PATH_EXISTS', 'A file that has been replaced is not removed.')
      await place.remove(joinPath(folder, fileName), false)
    },
  }
}
