import type { AnyVariables, CombinedError, OperationContext, TypedDocumentNode } from 'urql'
import { isFailure, TransferFailure } from '../../upload-engine/failure.ts'
import type { Aim, Attempt, Checking, Receipt, Transport } from '../../upload-engine/job.ts'
import { timeOf } from '../../upload-engine/modified-at.ts'
import { type Patience, persist } from '../../upload-engine/retry.ts'
import { trim } from '../drive/place.ts'
import {
  firstOfShare,
  SHARED_FOLDER,
  type SharedFolderData,
  type SharedLine,
} from '../drive/shared.ts'
import { client } from '../graphql/client.ts'
import { sentenceOf } from '../graphql/errors.ts'
import type { ResultOf } from '../graphql/graphql.ts'
import { sendForm } from './form.ts'
import type { Kept } from './kept.ts'
import {
  ABORT,
  COMPLETE,
  COMPLETION,
  FIND,
  type OUTCOME,
  PART,
  RECEIVED,
  REMOVE,
  START,
  WHOLE,
} from './operations.ts'
import { text } from './text.ts'

/**
 * The upload transport for drives and shares, by GraphQL.
 *
 * @param replaces the expected revision of the file to replace, or `any`
 */
export function transportOf(
  { drive, share, replaces }: Pick<Kept, 'drive' | 'share' | 'replaces'>,
  patience: Patience,
): Transport<Blob> {
  const again = <T>(work: () => Promise<T>) => persist(work, 'repeatable', patience)
  const onConflict = replaces === undefined ? {} : { onConflict: 'REPLACE' as const }
  const isShared = share !== undefined
  const expected = typeof replaces === 'number' ? { expectedRevision: replaces } : {}
  const at = ({ folder, fileName }: Aim) => ({ at: { drive, path: pathOf({ folder, fileName }) } })

  return {
    host: location.host,

    async start({ folder, fileName }, file) {
      const input = { drive, folder, fileName, size: file.size, ...timeOf(file), ...onConflict }
      const { startUpload } = await again(() => mutate(START, { input }))
      if (!startUpload) throw noAnswer()
      const { id: uploadId, ...session } = startUpload.uploadSession
      return { uploadId, ...session }
    },

    async received({ uploadId }) {
      const { node } = await again(() => ask(RECEIVED, { id: uploadId }))
      if (node?.__typename !== 'UploadSession')
        throw new TransferFailure('UPLOAD_NOT_FOUND', text('sessionEnded'))
      return node.received
    },

    async sendPart({ uploadId }, { number, body }, attempt) {
      const part = new File([body], String(number))
      const { uploadPart } = await mutate(
        PART,
        { input: { uploadSession: uploadId, number, part } },
        sending(attempt),
      )
      return uploadPart?.crc32
    },

    async complete({ uploadId }, aim, sum) {
      const input = {
        uploadSession: uploadId,
        wait: COMPLETION_WAIT_SECONDS,
        ...aim,
        ...sum,
        ...expected,
      }
      const { beginCompletion } = await again(() => mutate(COMPLETE, { input, isShared }))
      if (!beginCompletion) throw noAnswer()
      return outcomeOf(beginCompletion.uploadSession)
    },

    async outcome({ uploadId }) {
      const { node } = await again(() => ask(COMPLETION, { id: uploadId, isShared }))
      if (node?.__typename !== 'UploadSession')
        throw new TransferFailure('UPLOAD_NOT_FOUND', text('sessionEnded'))
      return outcomeOf(node)
    },

    async abort({ uploadId }) {
      const context = { fetchOptions: { keepalive: true } }
      await again(() => mutate(ABORT, { input: { uploadSession: uploadId } }, context))
    },

    async sendWhole({ folder, fileName }, { body, ...fingerprint }, attempt) {
      // Browsers encode backslashes in forms differently, so the service may see a path.
      if (fileName.includes('\\')) throw new TransferFailure('INVALID_PATH', text('backslash'))
      const file = new File([body], fileName, { type: body.type })
      const at = { drive, path: folder }
      const input = { file, folder: { at }, ...timeOf(fingerprint), ...onConflict, ...expected }
      const { uploadFile } = await mutate(WHOLE, { input, isShared }, sending(attempt))
      if (!uploadFile) throw noAnswer()
      const { name, md5 } = uploadFile.file
      return { fileName: name, md5 }
    },

    async find(aim) {
      if (share !== undefined) {
        const found = await again(() => fileInShare(share, aim))
        return found?.md5 ? [{ fileName: found.name, size: found.size, md5: found.md5 }] : []
      }
      const { node } = await again(() => ask(FIND, { drive, path: pathOf(aim) }))
      const entry = node?.__typename === 'Drive' ? node.entry : null
      return entry?.__typename === 'File'
        ? [{ fileName: aim.fileName, size: entry.size, md5: entry.md5 }]
        : []
    },

    async remove(aim) {
      // Deleting the new file would also delete its versions, including the replaced content.
      if (replaces !== undefined) throw new TransferFailure('PATH_EXISTS', text('unavailable'))
      await again(() => mutate(REMOVE, { input: { entries: [at(aim)] } }))
    },
  }
}

/** Results of one request for a file. A rare name is in the first. */
const FOUND_AT_ONCE = 100

/**
 * Finds a file of a share, or null. A share cannot be asked for a path, so this searches for the
 * name, from the folder of the file down, page by page.
 */
export async function fileInShare(token: string, aim: Aim): Promise<SharedLine | null> {
  const { folder, fileName: query } = aim
  const variables = { ...firstOfShare(folder), token, query, first: FOUND_AT_ONCE }
  try {
    for (let after: string | null = null; ; ) {
      const data: SharedFolderData = await ask(SHARED_FOLDER, { ...variables, after })
      const { entries, endCursor } = data.sharedFolder
      const found = entries.find(({ kind, path }) => kind === 'FILE' && trim(path) === pathOf(aim))
      if (found || !endCursor) return found ?? null
      after = endCursor
    }
  } catch (error) {
    if (isFailure(error, 'FILE_NOT_FOUND', 'FOLDER_NOT_FOUND')) return null
    throw error
  }
}

/** Most completions finish within this time. */
const COMPLETION_WAIT_SECONDS = 10

/** @throws the failure of the completion, or UPLOAD_NOT_FOUND */
function outcomeOf({
  completion,
}: Pick<ResultOf<typeof OUTCOME>, 'completion'>): Receipt | Checking {
  const { state, checked, failure, file, md5 } = completion ?? {}
  if (failure)
    throw new TransferFailure(
      failure.code,
      failure.message,
      failure.missing ? { missing: failure.missing } : {},
    )
  if (state === 'COMPLETING') return { checked: checked ?? 0 }
  if (!file || !md5) throw new TransferFailure('UPLOAD_NOT_FOUND', text('sessionEnded'))
  return { fileName: file.name, md5 }
}

export const pathOf = ({ folder, fileName }: Aim): string =>
  folder === '' ? fileName : `${folder}/${fileName}`

const sending = (attempt: Attempt): Partial<OperationContext> => ({ fetch: sendForm(attempt) })

const noAnswer = () => new TransferFailure('UNAVAILABLE', text('unavailable'))

/** @throws TransferFailure */
export async function mutate<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  context?: Partial<OperationContext>,
): Promise<Data> {
  const { data, error } = await client.mutation(document, variables, context).toPromise()
  return answerOf(data, error)
}

/**
 * Bypasses the cache.
 *
 * @throws TransferFailure
 */
export async function ask<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const { data, error } = await client
    .query(document, variables, { requestPolicy: 'network-only', once: true })
    .toPromise()
  return answerOf(data, error)
}

function answerOf<Data>(data: Data | undefined, error: CombinedError | undefined): Data {
  if (error) throw failureOf(error)
  if (data === undefined) throw noAnswer()
  return data
}

function failureOf({
  graphQLErrors: [refusal],
  networkError,
  response,
}: CombinedError): TransferFailure {
  if (refusal) {
    const { code = 'UNEXPECTED', ...details } = refusal.extensions
    return new TransferFailure(String(code), sentenceOf(refusal), details)
  }
  if (isFailure(networkError, 'UNREACHABLE', 'FILE_CHANGED', 'INTERRUPTED')) return networkError
  const { status, headers } = (response ?? {}) as Partial<Response>
  if (status === undefined)
    return new TransferFailure('UNREACHABLE', text('unreachable'), { sent: true })
  // Possibly an error page of a proxy.
  const seconds = Number(headers?.get('retry-after') ?? Number.NaN)
  const wait = Number.isFinite(seconds) ? { retry_after: seconds } : {}
  return status === 429 || status >= 500
    ? new TransferFailure('UNAVAILABLE', text('unavailable'), wait)
    : new TransferFailure('UNEXPECTED', text('unexpected', { status }))
}
