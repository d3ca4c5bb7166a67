import { readRaw } from '../http/body.ts'
import { AppError, Forbidden, InvalidInput } from '../runtime/errors.ts'
import type { Chunk } from '../services/uploads/stream-append.ts'
import { OffsetDiffers, TooManyBytes } from '../services/uploads/stream-error.ts'
import type { StreamView } from '../services/uploads/upload-stream.ts'
import type { Exchange } from './exchange.ts'
import { sendEmpty, senderOf, stateHeaders } from './exchange.ts'
import { bytesIn, headerOf, parseChecksum } from './headers.ts'
import { driveOfUpload, endedUpload } from './place.ts'
import { TusError } from './refusal.ts'

const CHUNK_TYPE = 'application/offset+octet-stream'

export const isChunk = ({ incoming: { req } }: Exchange): boolean =>
  headerOf(req, 'Content-Type')?.toLowerCase() === CHUNK_TYPE

/**
 * The bytes of the body.
 * @param size the file size in bytes; undefined while its length is deferred
 * @throws INVALID_INPUT, TooManyBytes
 */
export function chunkOf(
  { incoming: { req } }: Exchange,
  size: number | undefined,
  from: number,
): Chunk {
  const checksum = parseChecksum(headerOf(req, 'Upload-Checksum'))
  const { source, bound } = readRaw(req)
  if (bound !== undefined && size !== undefined && from + bound > size) throw new TooManyBytes(size)
  return { source, checksum }
}

/**
 * The upload length that a PATCH sets (section "Creation": it cannot be changed).
 * @throws INVALID_INPUT
 */
function lengthOf(
  { incoming: { req } }: Exchange,
  { session, isDeferred }: StreamView,
  from: number,
): number | undefined {
  const said = bytesIn(req, 'Upload-Length')
  if (said === undefined) return isDeferred ? undefined : session.size
  if (!isDeferred && said !== session.size)
    throw new InvalidInput('Upload-Length', `The length of this upload is ${session.size} bytes.`)
  if (said < from)
    throw new InvalidInput('Upload-Length', `More than ${said} bytes have arrived already.`)
  return said
}

/** Handles PATCH: appends the body to an upload (section "Core Protocol"). */
export async function append(exchange: Exchange): Promise<void> {
  const { incoming, services, caller, id = '' } = exchange
  const { req } = incoming
  if (!isChunk(exchange))
    throw new TusError(415, 'INVALID_INPUT', `Send the bytes with Content-Type: ${CHUNK_TYPE}.`)
  const from = bytesIn(req, 'Upload-Offset')
  if (from === undefined)
    throw new InvalidInput('Upload-Offset', 'Send the offset of the bytes in Upload-Offset.')
  const open = (await driveOfUpload(services, caller, id)).open('write')
  const view = await services.uploadStreams.look(open.tree, id, caller.userId)
  if (view.kind === 'joined')
    throw new Forbidden('A final upload consists of its partial uploads, and accepts no bytes.')
  if (view.session.isCompleted && from !== view.arrived) throw new OffsetDiffers(view.arrived)
  const length = lengthOf(exchange, view, from)
  const chunk = chunkOf(exchange, length, from)
  if (view.session.isCompleted) return sendEmpty(exchange, 204, stateHeaders(view))
  const sender = senderOf(exchange, open, async now =>
    (await driveOfUpload(services, now, id)).open('write'),
  )
  const written = await services.uploadStreams
    .write(open.tree, id, from, { ...chunk, length }, sender)
    .catch(async error => {
      throw error instanceof AppError && error.code === 'UPLOAD_NOT_FOUND'
        ? await endedUpload(services, caller, id)
        : error
    })
  sendEmpty(exchange, 204, stateHeaders(written))
}
