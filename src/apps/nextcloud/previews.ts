import type { Caller } from '../../access/caller.ts'
import { Drive } from '../../access/drive.ts'
import { sendBytes } from '../../http/bytes.ts'
import type { Incoming } from '../../http/incoming.ts'
import { nothingHere } from '../../http/threshold.ts'
import type { Services } from '../../services/index.ts'
import { parsePath } from '../../values/paths.ts'
import { fileByNumber } from './drives.ts'

/** The largest side of the small preview, in pixels. */
const SMALL = 256

/**
 * Sends the preview of a file of the caller, which is named by its number or by its path in their
 * own drive.
 * @throws ROUTE_NOT_FOUND if there is none, which clients show as an icon
 */
export async function sendPreview(
  services: Pick<Services, 'drives' | 'entryLists' | 'previews' | 'workspaces'>,
  { req, res, address, signal, query }: Incoming,
  caller: Caller,
): Promise<void> {
  const [number, path] = [query.get('fileId'), query.get('file')]
  const found =
    number !== null
      ? (await fileByNumber(services, caller, number))?.file
      : await services.entryLists.at(
          Drive.own(caller).open('read').tree,
          parsePath(path ?? '', 'file'),
        )
  if (!found?.blobId) throw nothingHere()
  const { blobId, contentType: fileType, size, name } = found
  const asked = Number(query.get('x') ?? SMALL)
  const bytes = await services.previews.open(
    { blobId, fileType, size, name },
    { size: asked > SMALL ? 'large' : 'small', version: null },
  )
  if (!bytes) throw nothingHere()
  await sendBytes({ req, res, address, signal }, bytes)
}
