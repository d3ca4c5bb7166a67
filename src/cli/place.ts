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

/** A file in a listing. */
export interface RemoteFile {
  /** Undefined for entries seen through a share link. */
  id?: string
  name: string
  fileType: string
  size: number
  /** MD5, lower-case hex. */
  md5Checksum: string
  createdAt: string
  /** When the content was last modified on its computer, or else uploaded. */
  modifiedAt: string
}

/** A folder in a listing, with the total size and number of all files below it. */
export interface RemoteFolder {
  name: string
  size: number
  /** Undefined for entries seen through a share link. */
  fileCount?: number
  updatedAt: string
}

export interface Listing {
  folders: RemoteFolder[]
  files: RemoteFile[]
}

export type Found = { kind: 'folder' } | { kind: 'file'; file: RemoteFile }

/** The maximum size of a new file, and the failure for a larger one. */
export interface Capacity {
  bytes: number
  refusal: Failure
}

/** An old version of a file. */
export interface FoundVersion {
  size: number
  md5: string
  modifiedAt: string
  /** Path of the file. */
  path: string
  /** Expires soon. */
  url: string
}

/** Deeper than the service allows. */
export const DEEPEST = 64

export const notFound = (shown: string): Failure =>
  new Failure('NOT_FOUND', `There is no file or folder ${shown}.`, { path: shown })

export type Place = ReturnType<typeof placeOf>

/** A place for listing and changing files: a drive or a share. A share provides fewer fields. */
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
  /** The free space of the plan. */
  capacity(): Promise<Capacity | undefined>
}

/**
 * The files of a drive: a workspace, or the caller's own. Paths are names joined by slashes.
 *
 * @param workspace with its slug or id as the user typed it
 */
export function placeOf(client: Client, workspace?: { id: string; named: string }) {
  const drive = { own: workspace === undefined, workspace: workspace?.id ?? null }
  let known: Promise<string> | undefined

  /** Id of the drive for mutations; null for the own drive, which needs none. */
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
    /** Id of the workspace, or token of the share; empty for the own files. */
    key: workspace?.id ?? '',
    /** REST route of the files. */
    route,
    at,
    show,

    /** Id of a trash item, in the form that users type. */
    showId: (id: string) => (workspace ? `${workspace.named}:${id}` : id),

    /** All entries of one folder; empty for an unknown path. */
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

    /**
     * Creates a folder and its missing parents.
     *
     * @param mayExist whether an existing folder is fine
     */
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
     * Deletes a file or folder. A folder must be empty unless `recursive`. Resolves to the number
     * of deleted files and the id in the trash, which is null without a trash, or if the credential
     * may not read.
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
      /** Newest first; pages load on demand. */
      async *items(): AsyncGenerator<TrashRowFragment> {
        const load = async (after: string | null) =>
          driveIn(await client.request(TrashDocument, { ...drive, after })).trash
        for await (const item of eachOf(load)) yield { ...item, path: inDrive(item.path) }
      },

      /**
       * Restores an item to a folder, or to its old place. Resolves to its new path.
       *
       * @throws TRASH_ITEM_NOT_FOUND, PATH_EXISTS
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

      /** Deletes an item permanently. */
      async remove(item: string): Promise<void> {
        await client.change(DeleteFromTrashDocument, { items: [item] })
      },

      /** Empties the trash. Resolves to the number of items. */
      async empty(): Promise<number> {
        return (await client.change(EmptyTrashDocument, { drive: await driveId() })).count
      },
    },

    versions: {
      /** The versions of a file, newest first. */
      async of(path: string): Promise<VersionRowFragment[]> {
        return allPages(async after => {
          const { entry } = driveIn(
            await client.request(VersionsDocument, { ...drive, path, after }),
          )
          if (!entry || !('versions' in entry)) throw notFound(show(path))
          return entry.versions
        })
      },

      /**
       * A version with a short-lived signed URL of its content.
       *
       * @throws VERSION_NOT_FOUND
       */
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

      /**
       * Resolves to the path of the file.
       *
       * @throws VERSION_NOT_FOUND
       */
      async restore(version: string): Promise<string> {
        return inDrive((await client.change(RestoreVersionDocument, { version })).file.path)
      },

      /**
       * Deletes a version permanently.
       *
       * @throws VERSION_NOT_FOUND
       */
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

    /** The free space of the plan. */
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

/** The drive in a response for a workspace or for the caller. */
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

/** In drives of workspaces, the service puts a slash before paths. */
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
