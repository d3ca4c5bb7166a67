import { isFailure, type TransferFailure } from '../../upload-engine/failure.ts'
import type { Expected, PartTransport, Receipt, Session } from '../../upload-engine/job.ts'
import { timeOf } from '../../upload-engine/modified-at.ts'
import { type Patience, persist } from '../../upload-engine/retry.ts'
import { ask, type Place } from './service.ts'

/**
 * The upload transport of a file request. Senders cannot see the target drive, so `find` finds
 * nothing.
 */
export function transportOf(place: Place, type: string, patience: Patience): PartTransport<Blob> {
  const again = <T>(work: () => Promise<T>) => persist(work, 'repeatable', patience)
  const at = ({ uploadId }: Session) => `/uploads/${uploadId}`

  /** Whether the file has arrived, which is unknown when a response was lost. */
  async function hasArrived({ uploadId }: Session): Promise<boolean> {
    const { sent } = await again(() => ask<{ sent: { upload_id: string }[] }>(place, 'GET', ''))
    return sent.some(({ upload_id }) => upload_id === uploadId)
  }

  /** @param otherwise the result if the upload has ended with its file */
  const unlessArrived =
    <T>(session: Session, otherwise: T) =>
    async (failure: TransferFailure): Promise<T> => {
      if (isFailure(failure, 'UPLOAD_NOT_FOUND') && (await hasArrived(session))) return otherwise
      throw failure
    }

  async function complete(
    session: Session,
    fileName: string,
    expected?: Expected,
  ): Promise<Receipt> {
    const json = { ...expected }
    const path = `${at(session)}/complete`
    const done = again(() =>
      ask<{ file_name: string; md5_checksum: string }>(place, 'POST', path, { json }),
    )
    return done
      .then(({ file_name, md5_checksum }) => ({ fileName: file_name, md5: md5_checksum }))
      .catch(unlessArrived(session, { fileName, md5: '', ...expected }))
  }

  return {
    host: location.host,

    async start({ fileName: filename }, file) {
      const { modifiedAt: modified_at } = timeOf(file)
      const json = {
        filename,
        size: file.size,
        modified_at,
        ...(type ? { content_type: type } : {}),
      }
      const begun = await again(() =>
        ask<{ upload_id: string; chunk_size: number; part_count: number; expires_at: string }>(
          place,
          'POST',
          '/uploads',
          { json },
        ),
      )
      return {
        uploadId: begun.upload_id,
        chunkSize: begun.chunk_size,
        partCount: begun.part_count,
        expiresAt: begun.expires_at,
      }
    },

    received: session =>
      again(() => ask<{ received: number[] }>(place, 'GET', at(session)))
        .then(({ received }) => received)
        .catch(unlessArrived(session, numbersTo(session.partCount))),

    async sendPart(session, { number, body }, attempt) {
      const path = `${at(session)}/parts/${number}`
      return (await ask<{ crc32: string }>(place, 'PUT', path, { part: { body, attempt } })).crc32
    },

    complete: (session, { fileName }, expected) => complete(session, fileName, expected),

    outcome: session => complete(session, ''),

    abort: session => again(() => ask(place, 'DELETE', at(session))),

    find: async () => [],
  }
}

const numbersTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)
