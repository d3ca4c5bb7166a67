import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError, InvalidInput } from '../runtime/errors.ts'
import type { MaintenanceService } from '../services/maintenance.ts'
import type { ShareLinkService } from '../services/sharing/share-link.ts'
import type { UploadSessionService } from '../services/uploads/upload-session.ts'
import { type BodyKind, readRaw } from './body.ts'
import { sendFile } from './bytes.ts'
import { allowOnly } from './method.ts'
import { write } from './write.ts'

const PREFIX = '/api/blobs/'

/**
 * Serves the URLs that the service signs, whose token grants access to one thing.
 * `/api/blobs/<token>` sends the bytes of a file, and `/api/blobs/<token>/<number>` receives a part
 * of an upload.
 */
export function signedBlobs({
  shareLinks,
  uploadSessions,
  maintenance,
}: {
  shareLinks: ShareLinkService
  uploadSessions: UploadSessionService
  maintenance: MaintenanceService
}) {
  return async ({
    req,
    res,
    path,
    address,
    signal,
    admit,
  }: {
    req: IncomingMessage
    res: ServerResponse
    path: string
    address: string
    signal: AbortSignal
    admit(caller: string | null, body: BodyKind): Promise<void>
  }): Promise<void> => {
    const [token, number] = path.slice(PREFIX.length).split('/')
    if (!token) throw new AppError('ROUTE_NOT_FOUND', 'There is nothing at this URL.')
    if (number === undefined) {
      await admit(null, 'whole')
      return sendFile({ req, res, address, signal }, await shareLinks.openAddress(token))
    }
    allowOnly(req, 'PUT')
    const { id, tree, maker } = uploadSessions.unseal(token)
    // The token identifies its creator, so the body counts against the creator's limits.
    await admit(maker, 'part')
    maintenance.requireWritable()
    if (!/^[1-9]\d{0,5}$/.test(number))
      throw new InvalidInput('part_number', 'The numbers of parts start at 1.')
    const { 'content-md5': header } = req.headers
    const contentMd5 = typeof header === 'string' ? header : undefined
    await uploadSessions.addPart(tree, {
      id,
      by: maker,
      number: Number(number),
      part: readRaw(req),
      contentMd5,
    })
    write(res, req, { status: 201, headers: { 'cache-control': 'no-store' }, body: '' })
  }
}
