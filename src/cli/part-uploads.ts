import type { Aim, Checking, Expected, Receipt } from '../upload-engine/job.ts'
import type { Client } from './client.ts'
import { Failure } from './failure.ts'
import {
  AbortUploadDocument,
  BeginCompletionDocument,
  type OnConflict,
  StartUploadDocument,
  UploadDocument,
  UploadOutcomeDocument,
  type UploadOutcomeFragment,
} from './generated.ts'

/**
 * Multipart uploads. All calls can be repeated.
 *
 * @param driveId id of the target drive or share
 */
export function partUploads(client: Client, driveId: () => Promise<string | null>) {
  return {
    async start(aim: Aim & { size: number; modifiedAt?: string; onConflict: OnConflict }) {
      const input = { drive: await driveId(), ...aim }
      const { id: uploadId, ...session } = (
        await client.change(StartUploadDocument, input, 'repeatable')
      ).uploadSession
      return { uploadId, ...session }
    },

    /**
     * Numbers of the parts that the service has.
     *
     * @throws UPLOAD_NOT_FOUND if the session has expired
     */
    async received(id: string): Promise<number[]> {
      const { node } = await client.request(UploadDocument, { id })
      if (!node || !('received' in node))
        throw new Failure('UPLOAD_NOT_FOUND', 'This upload has ended.')
      return node.received
    },

    async complete(
      uploadSession: string,
      what: Aim & Expected & { expectedRevision: number | undefined },
    ): Promise<Receipt | Checking> {
      const input = { uploadSession, wait: COMPLETION_WAIT_SECONDS, ...what }
      const { uploadSession: begun } = await client.change(
        BeginCompletionDocument,
        input,
        'repeatable',
      )
      return outcomeIn(begun)
    },

    async outcome(id: string): Promise<Receipt | Checking> {
      const { node } = await client.request(UploadOutcomeDocument, { id })
      return outcomeIn(node && 'completion' in node ? node : undefined)
    },

    async abort(uploadSession: string): Promise<void> {
      await client.change(AbortUploadDocument, { uploadSession }, 'repeatable')
    },
  }
}

/**
 * Most completions finish within this time. A proxy may cut requests that take longer than 30
 * seconds.
 */
const COMPLETION_WAIT_SECONDS = 10

/** @throws the failure of the completion, or UPLOAD_NOT_FOUND */
function outcomeIn(session: Partial<UploadOutcomeFragment> | undefined): Receipt | Checking {
  const { state, checked, failure, file, md5 } = session?.completion ?? {}
  if (failure)
    throw new Failure(
      failure.code,
      failure.message,
      failure.missing ? { missing: failure.missing } : {},
    )
  if (state === 'COMPLETING') return { checked: checked ?? 0 }
  if (!file || !md5) throw new Failure('UPLOAD_NOT_FOUND', 'This upload has ended.')
  return { fileName: file.name, md5 }
}
