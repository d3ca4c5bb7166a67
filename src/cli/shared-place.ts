import type { Client } from './client.ts'
import { Failure, isFailure } from './failure.ts'
import { ReceivedDocument, type SharedLineFragment, SharedListDocument } from './generated.ts'
import { allPages } from './pages.ts'
import { partUploads } from './part-uploads.ts'
import { splitPath } from './path.ts'
import type { FilesPlace, RemoteFile, RemoteFolder } from './place.ts'
import { partByGraph } from './transfer/send-part.ts'

/**
 * The files behind a share link. Everyone with the link can list them, and a recipient with edit
 * permission can change them. Paths are relative to the shared entry.
 */
export function sharedPlaceOf(client: Client, token: string): FilesPlace {
  const base = `/api/shared/${token}`
  const link = `${client.url}/share/${token}`
  let known: Promise<string> | undefined

  /** Multipart uploads identify a share by its id. */
  const shareId = (): Promise<string> => {
    known ??= receivedIdOf(client, token)
    return known
  }

  /**
   * The entries of one folder, or with `query` all entries below it that match by name; empty for
   * an unknown path.
   */
  const entriesAt = (path: string, query: string | null): Promise<SharedLineFragment[]> =>
    allPages(async after => {
      const { sharedFolder } = await client.request(SharedListDocument, {
        token,
        path,
        query,
        after,
      })
      const { entries: nodes, endCursor } = sharedFolder
      return { nodes, pageInfo: { hasNextPage: endCursor !== null, endCursor } }
    }).catch(error => {
      if (isFailure(error, 'FOLDER_NOT_FOUND', 'FILE_NOT_FOUND')) return []
      throw error
    })

  const place: FilesPlace = {
    client,
    key: token,
    route: base,
    show: path => (path === '' ? link : `${link}/${path}`),

    async list(path) {
      const entries = await entriesAt(path, null)
      return {
        folders: entries.filter(({ kind }) => kind === 'FOLDER').map(folderOf),
        files: entries.filter(({ kind }) => kind === 'FILE').map(fileOf),
      }
    },

    async find(path) {
      if (path === '') return { kind: 'folder' }
      const { folder, name } = splitPath(path)
      const wanted = path.normalize('NFC')
      const found = (await entriesAt(folder, name)).find(entry => entry.path === wanted)
      if (!found) return null
      return found.kind === 'FILE' ? { kind: 'file', file: fileOf(found) } : { kind: 'folder' }
    },

    async createFolder(path, mayExist) {
      try {
        await client.rest(`${base}/folders`, { method: 'POST', json: { path } })
      } catch (error) {
        const isThere =
          mayExist && isFailure(error, 'PATH_EXISTS') && (await place.find(path))?.kind === 'folder'
        if (!isThere) throw error
      }
    },

    async move(source, destination) {
      await client.rest(`${base}/move`, { method: 'POST', json: { source, destination } })
      return undefined
    },

    async remove(path, recursive) {
      const query = new URLSearchParams({ path, recursive: String(recursive) })
      const { files_deleted: filesDeleted } = await client.rest<{ files_deleted: number }>(
        `${base}/entries?${query}`,
        {
          method: 'DELETE',
        },
      )
      return { filesDeleted, trashItemId: null }
    },

    // The free space is private to the owner of the drive. If it runs out, the upload fails.
    capacity: async () => undefined,

    uploads: partUploads(client, shareId),
    sendPart: partByGraph(client),
  }
  return place
}

/**
 * The id of a received share.
 *
 * @throws SHARE_NOT_FOUND, INSUFFICIENT_SCOPE
 */
export async function receivedIdOf(client: Client, token: string): Promise<string> {
  const shares = await allPages(
    async after => (await client.request(ReceivedDocument, { after })).me.receivedShares,
  )
  const id = shares.find(share => share.token === token)?.id
  if (id !== undefined) return id
  throw new Failure('SHARE_NOT_FOUND', 'This share has ended, or is not shared with you.')
}

const folderOf = ({ name, size, updatedAt }: SharedLineFragment): RemoteFolder => ({
  name,
  size,
  updatedAt,
})

const fileOf = ({
  name,
  contentType,
  size,
  md5,
  updatedAt,
  modifiedAt,
}: SharedLineFragment): RemoteFile => ({
  name,
  fileType: contentType ?? '',
  size,
  md5Checksum: md5 ?? '',
  createdAt: updatedAt,
  modifiedAt: modifiedAt ?? updatedAt,
})
