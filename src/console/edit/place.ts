import { TransferFailure } from '../../upload-engine/failure.ts'
import { timeOf } from '../../upload-engine/modified-at.ts'
import { nameOf, parentOf, trim } from '../drive/place.ts'
import { OPEN_SHARE } from '../drive/shared.ts'
import { graphql } from '../graphql/graphql.ts'
import { sendForm } from '../uploads/form.ts'
import { WHOLE } from '../uploads/operations.ts'
import { ask, fileInShare, mutate } from '../uploads/transport.ts'
import { text } from './text.ts'

/** The present content of a file. */
export interface Current {
  name: string
  contentType: string
  /** In bytes. */
  size: number
  revision: number
  /** In hex. */
  md5: string
  /** When it was last changed, in ISO 8601. */
  updatedAt: string
  /** Whether the content that is replaced stays as a version. Undefined if that is private. */
  keepsVersions: boolean | undefined
  /** A signed URL of the content. */
  url: () => Promise<string>
  /** The folder that contains it, for the service. */
  folder: { id: string } | { at: { drive: string; path: string } }
}

/** A file whose text can be edited. All functions throw TransferFailure. */
export interface TextPlace {
  /** Identifies the file in this browser. */
  key: string
  /** Null if the file was deleted, or is no longer within reach. */
  read: () => Promise<Current | null>
  isShared: boolean
}

const READ = graphql(`
  query TextToEdit($id: ID!) {
    node(id: $id) {
      __typename
      id
      ... on File {
        name
        contentType
        size
        revision
        md5
        updatedAt
        parent {
          id
        }
        drive {
          id
          versionsKept
        }
        download(disposition: INLINE) {
          url
        }
      }
    }
  }
`)

const READ_SHARE = graphql(`
  query SharedTextToEdit($id: ID!) {
    node(id: $id) {
      __typename
      id
      ... on DirectShare {
        fileName
        contentType
        size
        revision
        md5
      }
    }
  }
`)

/** A file of a drive, wherever it is moved. */
export const placeInDrive = (id: string): TextPlace => ({
  key: id,
  isShared: false,
  async read() {
    const { node } = await ask(READ, { id })
    if (node?.__typename !== 'File' || !node.parent) return null
    const { parent, drive, download, ...file } = node
    const { url } = download
    return {
      ...file,
      keepsVersions: drive.versionsKept > 0,
      folder: { id: parent.id },
      url: async () => url,
    }
  },
})

const openShared = async (token: string, path: string | null): Promise<string> => {
  const { openShare } = await mutate(OPEN_SHARE, {
    input: { token, ...(path !== null && { path }), disposition: 'INLINE' },
  })
  return openShare?.download.url ?? ''
}

interface Shared {
  /** Id of the share. */
  id: string
  token: string
}

/** A file in a shared folder. */
export const placeInShare = ({ id, token }: Shared, path: string): TextPlace => ({
  key: `${id}/${path}`,
  isShared: true,
  async read() {
    const folder = parentOf(trim(path))
    const found = await fileInShare(token, { folder, fileName: nameOf(path) })
    if (!found) return null
    return {
      ...found,
      contentType: found.contentType ?? '',
      md5: found.md5 ?? '',
      keepsVersions: undefined,
      folder: { at: { drive: id, path: folder } },
      url: () => openShared(token, path),
    }
  },
})

/** A file that is shared alone. */
export const placeOfShare = ({ id, token }: Shared): TextPlace => ({
  key: id,
  isShared: true,
  async read() {
    const { node } = await ask(READ_SHARE, { id })
    if (node?.__typename !== 'DirectShare' || node.revision === null) return null
    return {
      ...node,
      revision: node.revision,
      name: node.fileName,
      updatedAt: '',
      keepsVersions: undefined,
      folder: { at: { drive: id, path: '' } },
      url: () => openShared(token, null),
    }
  },
})

/** Reads the whole content. */
export async function bytesOf({ url }: Current): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(await url()).catch(() => null)
  if (!response) throw new TransferFailure('UNREACHABLE', text('unreachable'))
  if (!response.ok) throw new TransferFailure('UNAVAILABLE', text('unread'))
  return new Uint8Array(await response.arrayBuffer())
}

interface Write {
  folder: Current['folder']
  name: string
  contentType: string
  bytes: Uint8Array<ArrayBuffer>
  isShared: boolean
  /**
   * The revision of the file to replace. Without one, the text becomes another file: with a free
   * name, or only if the name is free.
   */
  to: { revision: number } | 'free name' | 'new'
}

const how = (to: Write['to']) => {
  if (to === 'new') return { onConflict: 'FAIL' as const }
  if (to === 'free name') return { onConflict: 'KEEP_BOTH' as const }
  return { onConflict: 'REPLACE' as const, expectedRevision: to.revision }
}

/**
 * Saves a text as a new version or a new file.
 *
 * @throws TransferFailure, such as REVISION_MISMATCH
 */
export async function write({ folder, name, contentType, bytes, isShared, to }: Write) {
  // Browsers encode backslashes in forms differently, so the service may see a path.
  if (name.includes('\\')) throw new TransferFailure('INVALID_PATH', text('backslash'))
  const file = new File([bytes], name, { type: contentType })
  const input = { file, folder, ...timeOf({ size: bytes.length, mtimeMs: Date.now() }), ...how(to) }
  const attempt = { signal: new AbortController().signal, sent() {} }
  const { uploadFile } = await mutate(WHOLE, { input, isShared }, { fetch: sendForm(attempt) })
  if (!uploadFile) throw new TransferFailure('UNAVAILABLE', text('unread'))
  return uploadFile.file
}
