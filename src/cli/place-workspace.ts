import type { Client } from './client.ts'
import { isFailure } from './failure.ts'
import {
  AbortWorkspaceUploadDocument,
  CompleteWorkspaceUploadDocument,
  CreateWorkspaceFolderDocument,
  DeleteWorkspaceFileDocument,
  DeleteWorkspaceFolderDocument,
  MoveWorkspaceFileDocument,
  MoveWorkspaceFolderDocument,
  StartWorkspaceUploadDocument,
  WorkspaceLinkDocument,
  WorkspaceListDocument,
  WorkspaceQuotaDocument,
  WorkspaceUploadDocument,
} from './generated.ts'
import { splitPath } from './path.ts'
import { allPages, capacityFor, type Listing, PAGE, type Place } from './place.ts'

/** @param named how the caller names the workspace: its slug or its id */
export function workspacePlace(client: Client, workspaceId: string, named: string): Place {
  async function list(path: string): Promise<Listing> {
    const pages = await allPages(
      async cursor =>
        (await client.request(WorkspaceListDocument, { workspaceId, path, limit: PAGE, cursor })).workspaceFileTree,
    )
    return {
      folders: pages.flatMap(page => page.folders),
      files: pages.flatMap(page => page.files),
    }
  }

  /** Makes missing parents, as the routes of one's own files do. */
  async function createFolder(path: string): Promise<void> {
    const { folder: parentPath, name: folderName } = splitPath(path)
    const input = { workspaceId, folderName, parentPath }
    try {
      await client.request(CreateWorkspaceFolderDocument, { input })
    } catch (error) {
      if (!isFailure(error, 'FOLDER_NOT_FOUND') || parentPath === '') throw error
      await createFolder(parentPath)
      await client.request(CreateWorkspaceFolderDocument, { input })
    }
  }

  return {
    client,
    workspaceId,
    route: `/api/workspaces/${workspaceId}/files`,
    show: path => `${named}:/${path}`,
    list,
    createFolder,

    // The API has no lookup of a single path, so its folder is listed.
    async find(path) {
      if (path === '') return { kind: 'folder' }
      const { folder, name } = splitPath(path)
      const wanted = name.normalize('NFC')
      const { folders, files } = await list(folder)
      const file = files.find(f => f.name === wanted)
      return file ? { kind: 'file', file } : folders.some(f => f.name === wanted) ? { kind: 'folder' } : null
    },

    async moveFile(source, destination) {
      await client.request(MoveWorkspaceFileDocument, { input: { workspaceId, source, destination } })
    },

    async moveFolder(source, destination) {
      const input = { workspaceId, source, destination }
      return (await client.request(MoveWorkspaceFolderDocument, { input })).moveWorkspaceFolder.updated
    },

    async deleteFile(path) {
      await client.request(DeleteWorkspaceFileDocument, { input: { workspaceId, path } })
    },

    async deleteFolder(path) {
      const { deleteWorkspaceFolder } = await client.request(DeleteWorkspaceFolderDocument, {
        input: { workspaceId, path },
      })
      return deleteWorkspaceFolder.filesDeleted
    },

    async link(path) {
      return (await client.request(WorkspaceLinkDocument, { workspaceId, path })).workspaceDownload.url
    },

    async capacity() {
      const { workspaceQuota } = await client.request(WorkspaceQuotaDocument, { workspaceId })
      const { maxTotalStorageBytesWorkspace: max, totalBytes: used } = workspaceQuota
      return capacityFor('max_total_storage_bytes_workspace', max, used)
    },

    uploads: {
      async start(more) {
        const input = { workspaceId, ...more }
        return (await client.request(StartWorkspaceUploadDocument, { input }, 'repeatable')).startWorkspaceUpload
      },
      async received(id) {
        return (await client.request(WorkspaceUploadDocument, { workspaceId, id })).workspaceUpload.received
      },
      async complete(uploadId, more) {
        const input = { workspaceId, uploadId, ...more }
        const answer = await client.request(CompleteWorkspaceUploadDocument, { input }, 'repeatable')
        return answer.completeWorkspaceUpload.md5Checksum
      },
      async abort(uploadId) {
        await client.request(AbortWorkspaceUploadDocument, { input: { workspaceId, uploadId } }, 'repeatable')
      },
    },
  }
}
