import type { Client } from './client.ts'
import { Failure } from './failure.ts'
import {
  AbortUploadDocument,
  CompleteUploadDocument,
  CreateFolderDocument,
  DeleteFileDocument,
  DeleteFolderDocument,
  DownloadLinkDocument,
  DownloadTokenDocument,
  FindDocument,
  ListDocument,
  MoveFileDocument,
  MoveFolderDocument,
  QuotaDocument,
  StartUploadDocument,
  UploadDocument,
} from './generated.ts'
import { splitPath } from './path.ts'
import { allPages, capacityFor, PAGE, type Place } from './place.ts'

/** The caller's own files. */
export const personalPlace = (client: Client): Place => ({
  client,
  workspaceId: '',
  route: '/api/files',
  show: path => `/${path}`,

  async list(path) {
    const pages = await allPages(
      async cursor => (await client.request(ListDocument, { path, limit: PAGE, cursor })).fileTree,
    )
    return {
      folders: pages.flatMap(page => page.folderEntries),
      // A listing names files by their full path.
      files: pages.flatMap(page => page.files.map(file => ({ ...file, name: splitPath(file.name).name }))),
    }
  },

  async find(path) {
    if (path === '') return { kind: 'folder' }
    const { file, folder } = await client.request(FindDocument, { path })
    return file ? { kind: 'file', file } : folder ? { kind: 'folder' } : null
  },

  async createFolder(path) {
    await client.request(CreateFolderDocument, { input: { path } })
  },

  async moveFile(source, destination) {
    await client.request(MoveFileDocument, { input: { source, destination } })
  },

  async moveFolder(source, destination) {
    return (await client.request(MoveFolderDocument, { input: { source, destination } })).moveFolder.filesMoved
  },

  async deleteFile(file) {
    await client.request(DeleteFileDocument, { input: { file } })
  },

  async deleteFolder(path) {
    return (await client.request(DeleteFolderDocument, { input: { path, recursive: true } })).deleteFolder.filesDeleted
  },

  async link(file) {
    const { createDownloadToken } = await client.request(DownloadTokenDocument, { input: { file } }, 'repeatable')
    const token = createDownloadToken.privateDownloadToken
    return (await client.request(DownloadLinkDocument, { token })).privateDownload.url
  },

  async capacity() {
    const { plan, usage } = (await client.request(QuotaDocument, {})).me
    const { maxFileSizeBytes: max } = plan
    const capacity = capacityFor('max_total_storage_bytes', usage.maxTotalStorageBytes, usage.usedBytes)
    if (capacity.bytes <= max) return capacity
    const sentence = `The plan allows ${max} bytes a file. Send a smaller one, or ask for a larger plan.`
    return { bytes: max, refusal: new Failure('FILE_TOO_LARGE', sentence, { limit: 'max_file_size_bytes', max }) }
  },

  uploads: {
    async start(input) {
      return (await client.request(StartUploadDocument, { input }, 'repeatable')).startUpload
    },
    async received(id) {
      return (await client.request(UploadDocument, { id })).upload.received
    },
    async complete(uploadId, more) {
      const input = { uploadId, ...more }
      return (await client.request(CompleteUploadDocument, { input }, 'repeatable')).completeUpload.md5Checksum
    },
    async abort(uploadId) {
      await client.request(AbortUploadDocument, { input: { uploadId } }, 'repeatable')
    },
  },
})
