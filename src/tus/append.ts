import { readRaw } from '../http/body.ts'
import { AppError, Forbidden, InvalidInput } from '../runtime/errors.ts'
import type { Chunk } from '../services/uploads/stream-append.ts'
import { OffsetDiffers, TooManyBytes } from '../services/uploads/stream-error.ts'
import type { UploadSessionView } from '../services/uploads/upload-session-view.ts'
import type { Exchange } from './exchange.ts'
import { sendEmpty, senderOf, stateHeaders } from './exchange.ts'
import { bytesIn, headerOf, parseChecksum } from './headers.ts'
import { driveOfUpload, endedUpload } from './place.ts'
import { TusError } from './refusal.ts'

const CHUNK_TYPE = 'application/offset+octet-stream'

export const isChunk = ({ incoming: { req } }: Exchange): boolean =>
  headerOf(req, 'Content-Type')?.toLowerCase() === CHUNK_TYPE

/** The bytes of the body. @throws INVALID_INPUT, TooManyBytes */
export function chunkOf(
  { incoming: { req } }: Exchange,
  { size }: Pick<UploadSessionView, 'size'>,
  from: number,
): Chunk {
  const checksum = parseChecksum(headerOf(req, 'Upload-Checksum'))
  const { source, bound } = readRaw(req)
  if (bound !== undefined && from + bound > size) throw new TooManyBytes(size)
  return { source, checksum }
}

/** Answers PATCH: appends the bytes of the body to an upload (section "Core Protocol"). */
export async function append(exchange: Exchange): Promise<void> {
  const { incoming, services, caller, id = '' } = exchange
  const { req } = incoming
  if (!isChunk(exchange))
    throw new TusError(415, 'INVALID_INPUT', `Send the bytes with Content-Type: ${CHUNK_TYPE}.`)
  const from = bytesIn(req, 'Upload-Offset')
  if (from === undefined)
    throw new InvalidInput('Upload-Offset', 'Say in Upload-Offset where the bytes begin.')
  const open = (await driveOfUpload(services, caller, id)).open('write')
  const view = await services.uploadStreams.look(open.tree, id, caller.userId)
  if (view.kind === 'joined')
    throw new Forbidden('The bytes of a final upload are those of its partial uploads.')
  if (view.session.isCompleted && from !== view.arrived) throw new OffsetDiffers(view.arrived)
  const chunk = chunkOf(exchange, view.session, from)
  if (view.session.isCompleted) return sendEmpty(exchange, 204, stateHeaders(view))
  const sender = senderOf(exchange, open, async now =>
    (await driveOfUpload(services, now, id)).open('write'),
  )
  const written = await services.uploadStreams
    .write(open.tree, id, from, chunk, sender)
    .catch(async error => {
      throw error instanceof AppError && error.code === 'UPLOAD_NOT_FOUND'
        ? await endedUpload(services, caller, id)
        : error
    })
  sendEmpty(exchange, 204, stateHeaders(written))
}
