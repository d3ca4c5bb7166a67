import type { Client } from './client.ts'
import { Failure, isFailure } from './failure.ts'
import {
  CapacityDocument,
  CreateFolderDocument,
  DeleteDocument,
  DeleteFromTrashDocument,
  DeleteVersionDocument,
  EmptyTrashDocument,
  type FileRowFragment,
  FindDocument,
  LinkDocument,
  ListDocument,
  MoveDocument,
  type OnConflict,
  RestoreFromTrashDocument,
  RestoreVersionDocument,
  TrashDocument,
  type TrashRowFragment,
  VersionDocument,
  type VersionRowFragment,
  VersionsDocument,
  WorkspaceDriveDocument,
} from './generated.ts'
import { allPages, eachOf } from './pages.ts'
import { partUploads } from './part-uploads.ts'
import { splitPath } from './path.ts'
import { partByRoute } from './transfer/send-part.ts'

/** A file as a listing shows it. */
export interface RemoteFile {
  /** Not of what is seen by a link. */
  id?: string
  name: string
  fileType: string
  size: number
  /** MD5, lower-case hex. */
  md5Checksum: string
  createdAt: string
  /** When its content was last modified on its computer, or uploaded. */
  modifiedAt: string
}

/** A folder as a listing shows it, with the bytes and the number of all files below it. */
export interface RemoteFolder {
  name: string
  size: number
  /** Not of what is seen by a link. */
  fileCount?: number
  updatedAt: string
}

export interface Listing {
  folders: RemoteFolder[]
  files: RemoteFile[]
}

export type Found = { kind: 'folder' } | { kind: 'file'; file: RemoteFile }

/** How large a new file may be, and the failure for a larger one. */
export interface Capacity {
  bytes: number
  refusal: Failure
}

/** A replaced content of a file. */
export interface FoundVersion {
  size: number
  md5: string
  modifiedAt: string
  /** Of the file. */
  path: string
  /** Short-lived. */
  url: string
}

/** More levels than the service allows. */
export const DEEPEST = 64

export const notFound = (shown: string): Failure =>
  new Failure('NOT_FOUND', `There is no file or folder ${shown}.`, { path: shown })

export type Place = ReturnType<typeof placeOf>

/**
 * Where files are listed and changed: in a drive, or in what is shared. What is shared does not
 * tell all of it.
 */
export interface FilesPlace
  extends Pick<
    Place,
    | 'client'
    | 'key'
    | 'route'
    | 'show'
    | 'list'
    | 'find'
    | 'createFolder'
    | 'remove'
    | 'uploads'
    | 'sendPart'
  > {
  /** Resolves to the number of files whose path has changed. */
  move(source: string, destination: string): Promise<number | undefined>
  /** What the plan leaves. */
  capacity(): Promise<Capacity | undefined>
}

/**
 * The files of a drive: that of a workspace, or the caller's own. Paths are names joined by
 * slashes.
 * @param workspace with its slug or id, as the user has written it
 */
export function placeOf(client: Client, workspace?: { id: string; named: string }) {
  const drive = { own: workspace === undefined, workspace: workspace?.id ?? null }
  let known: Promise<string> | undefined

  /** Changes name a drive by its id; the own one needs none. */
  async function driveId(): Promise<string | null> {
    if (!workspace) return null
    known ??= client
      .request(WorkspaceDriveDocument, { workspace: workspace.id })
      .then(found => driveIn(found).id)
    return known
  }

  /** A path in the form that users type. */
  const show = (path: string) => (workspace ? `${workspace.named}:/${path}` : `/${path}`)

  const route = workspace ? `/api/workspaces/${workspace.id}/files` : '/api/files'

  const at = async (path: string) => ({ at: { drive: await driveId(), path } })

  const place = {
    client,
    drive,
    /** The id of the workspace, or the token of a share; empty for one's own files. */
    key: workspace?.id ?? '',
    /** REST route of its files. */
    route,
    at,
    show,

    /** An id of an item of its trash, in the form that users type. */
    showId: (id: string) => (workspace ? `${workspace.named}:${id}` : id),

    /** All entries of one level; empty for an unknown path. */
    async list(path: string): Promise<Listing> {
      const entries = await allPages(async after => {
        const { entry } = driveIn(await client.request(ListDocument, { ...drive, path, after }))
        return entry && 'entries' in entry ? entry.entries : nothing
      })
      return {
        folders: entries.flatMap(({ __typename: type, ...entry }) =>
          'fileCount' in entry ? [entry] : [],
        ),
        files: entries.flatMap(entry => (entry.__typename === 'File' ? [fileOf(entry)] : [])),
      }
    },

    async find(path: string): Promise<Found | null> {
      if (path === '') return { kind: 'folder' }
      const { entry } = driveIn(await client.request(FindDocument, { ...drive, path }))
      if (!entry) return null
      return entry.__typename === 'File'
        ? { kind: 'file', file: fileOf(entry) }
        : { kind: 'folder' }
    },

    /** With those above it that are missing. @param mayExist whether it may be there already */
    async createFolder(path: string, mayExist: boolean): Promise<void> {
      try {
        await client.change(CreateFolderDocument, await at(path))
      } catch (error) {
        const isThere =
          mayExist && isFailure(error, 'PATH_EXISTS') && (await place.find(path))?.kind === 'folder'
        if (!isThere) throw error
      }
    },

    /** Moves a file or a folder. Resolves to the number of files whose path has changed. */
    async move(source: string, destination: string): Promise<number> {
      const { folder, name } = splitPath(destination)
      const input = { entries: [await at(source)], to: await at(folder), name }
      const { entries } = await client.change(MoveDocument, input)
      return (entries ?? []).reduce(
        (sum, entry) => sum + ('fileCount' in entry ? entry.fileCount : 1),
        0,
      )
    },

    /**
     * Deletes a file, or a folder that is empty unless `recursive`. Resolves to the number of
     * deleted files, and to the id in the trash: null if nothing is kept, or if the credential may
     * not read.
     */
    async remove(
      path: string,
      recursive: boolean,
    ): Promise<{ filesDeleted: number; trashItemId: string | null }> {
      const input = { entries: [await at(path)], recursive }
      const { filesDeleted, trashItems } = await client.change(DeleteDocument, input)
      return { filesDeleted, trashItemId: trashItems?.[0]?.id ?? null }
    },

    trash: {
      /** The newest first, loaded as they are read. */
      async *items(): AsyncGenerator<TrashRowFragment> {
        const load = async (after: string | null) =>
          driveIn(await client.request(TrashDocument, { ...drive, after })).trash
        for await (const item of eachOf(load)) yield { ...item, path: inDrive(item.path) }
      },

      /**
       * Into a folder, or where it was. Resolves to the path that it has now. @throws
       * TRASH_ITEM_NOT_FOUND, PATH_EXISTS
       */
      async restore(
        item: string,
        folder: string | undefined,
        onConflict: OnConflict,
      ): Promise<string> {
        const to = folder === undefined ? null : await at(folder)
        const { entries } = await client.change(RestoreFromTrashDocument, {
          items: [item],
          to,
          onConflict,
        })
        return inDrive(entries[0]?.path ?? '')
      },

      /** For ever. */
      async remove(item: string): Promise<void> {
        await client.change(DeleteFromTrashDocument, { items: [item] })
      },

      /** Resolves to the number of items that it had. */
      async empty(): Promise<number> {
        return (await client.change(EmptyTrashDocument, { drive: await driveId() })).count
      },
    },

    versions: {
      /** Of a file, the newest first. */
      async of(path: string): Promise<VersionRowFragment[]> {
        return allPages(async after => {
          const { entry } = driveIn(
            await client.request(VersionsDocument, { ...drive, path, after }),
          )
          if (!entry || !('versions' in entry)) throw notFound(show(path))
          return entry.versions
        })
      },

      /** With a short-lived signed URL of its bytes. @throws VERSION_NOT_FOUND */
      async find(id: string): Promise<FoundVersion> {
        const { node } = await client.request(VersionDocument, { id })
        if (!node || !('file' in node))
          throw new Failure(
            'VERSION_NOT_FOUND',
            `There is no version ${id}. satchel versions list shows the versions of a file.`,
          )
        const { size, md5, modifiedAt, file, download } = node
        return { size, md5, modifiedAt, path: inDrive(file.path), url: download.url }
      },

      /** Resolves to the path of the file. @throws VERSION_NOT_FOUND */
      async restore(version: string): Promise<string> {
        return inDrive((await client.change(RestoreVersionDocument, { version })).file.path)
      },

      /** For ever. @throws VERSION_NOT_FOUND */
      async remove(version: string): Promise<void> {
        await client.change(DeleteVersionDocument, { version })
      },
    },

    /** A short-lived signed URL of a file. */
    async link(path: string): Promise<string> {
      const { entry } = driveIn(await client.request(LinkDocument, { ...drive, path }))
      if (!entry || !('download' in entry)) throw notFound(show(path))
      return entry.download.url
    },

    /** What the plan leaves. */
    async capacity(): Promise<Capacity> {
      const {
        maxBytes,
        usedBytes,
        maxFileSize: max,
      } = driveIn(await client.request(CapacityDocument, drive)).usage
      const bytes = maxBytes - usedBytes
      if (bytes > max) {
        const sentence = `The plan allows ${max} bytes per file. Send a smaller file, or ask for a larger plan.`
        return {
          bytes: max,
          refusal: new Failure('FILE_TOO_LARGE', sentence, { limit: 'max_file_size_bytes', max }),
        }
      }
      const sentence = `The plan allows ${maxBytes} bytes, of which ${usedBytes} are used; there is not enough space for this. Delete something, or ask for a larger plan.`
      const limit = workspace ? 'max_total_storage_bytes_workspace' : 'max_total_storage_bytes'
      return {
        bytes,
        refusal: new Failure('QUOTA_EXCEEDED', sentence, { limit, max: maxBytes, used: usedBytes }),
      }
    },

    uploads: partUploads(client, driveId),
    sendPart: partByRoute(client, route),
  }
  return place
}

export const nothing = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } }

/** The drive in an answer about that of a workspace, or the caller's own. */
export function driveIn<Drive>({
  me,
  workspace,
}: {
  me?: { drive: Drive }
  workspace?: { drive: Drive | null }
}): Drive {
  const drive = (me ?? workspace)?.drive
  if (!drive) throw new Failure('WORKSPACE_NOT_FOUND', 'This workspace no longer exists.')
  return drive
}

/** In the drives of workspaces, the service writes a slash before paths. */
export const inDrive = (path: string): string => path.replace(/^\//, '')

const fileOf = ({
  id,
  name,
  contentType,
  size,
  md5,
  createdAt,
  modifiedAt,
}: FileRowFragment): RemoteFile => ({
  id,
  name,
  fileType: contentType,
  size,
  md5Checksum: md5,
  createdAt,
  modifiedAt,
})
