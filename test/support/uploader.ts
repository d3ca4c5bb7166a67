import { driveOf } from './builders.ts'
import type { Person, RestAnswer } from './harness.ts'

/**
 * A response in a common form for REST and GraphQL: the error code, or the value with the names of
 * REST.
 */
export interface Said {
  status: number
  code: string | undefined
  msg: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  value: any
}

export interface Part {
  bytes: Uint8Array | string
  contentMd5?: string
}

// biome-ignore lint/suspicious/noExplicitAny: answers have many shapes
type GraphData = any

/** Multipart uploads of one person into one place, over one interface. */
export interface Uploader {
  start(input: Record<string, unknown>): Promise<Said>
  part(id: string, number: number, part: Part): Promise<Said>
  look(id: string): Promise<Said>
  complete(id: string, input?: Record<string, unknown>): Promise<Said>
  /** Completes in the background, and waits this many seconds. 202 while the completion runs. */
  begin(id: string, input?: Record<string, unknown>, wait?: number): Promise<Said>
  /** The state of the background completion, in the form of `complete`. */
  outcome(id: string): Promise<Said>
  abort(id: string): Promise<Said>
}

/** The interfaces for multipart uploads: own files and workspace files, by REST and by GraphQL. */
export const faces = [
  {
    face: 'own files by REST',
    front: '',
    by: (who: Person, _workspaceId: string) => restUploader(who),
  },
  {
    face: 'own files by GraphQL',
    front: '',
    by: (who: Person, _workspaceId: string) => graphqlUploader(who),
  },
  { face: 'a workspace by REST', front: '/', by: restUploader },
  { face: 'a workspace by GraphQL', front: '/', by: graphqlUploader },
]

/** By REST. @param workspaceId the target workspace; by default the person's own files */
export function restUploader(person: Person, workspaceId?: string): Uploader {
  const base = workspaceId ? `/api/workspaces/${workspaceId}/files/uploads` : '/api/files/uploads'
  const at = (id: string) => `${base}/${encodeURIComponent(id)}`
  const said = ({ status, msg, response }: RestAnswer): Said => ({
    status,
    code: response?.code,
    msg,
    value: response,
  })
  return {
    start: async json => said(await person.rest('POST', base, { json })),
    part: async (id, number, { bytes, contentMd5 }) =>
      said(
        await person.rest('PUT', `${at(id)}/parts/${number}`, {
          body: bytes,
          headers: {
            'content-type': 'application/octet-stream',
            ...(contentMd5 ? { 'content-md5': contentMd5 } : {}),
          },
        }),
      ),
    look: async id => said(await person.rest('GET', at(id))),
    complete: async (id, json = {}) =>
      said(await person.rest('POST', `${at(id)}/complete`, { json })),
    begin: async (id, json = {}, wait = 0) =>
      said(
        await person.rest('POST', `${at(id)}/complete`, {
          json,
          headers: { prefer: `respond-async, wait=${wait}` },
        }),
      ),
    outcome: async id => said(await person.rest('GET', `${at(id)}/completion`)),
    abort: async id => said(await person.rest('DELETE', at(id))),
  }
}

const fileFields = 'id name path parent { path } size md5 contentType'

const completionFields = `id size completion { state checked md5 failure { code message missing } file { ${fileFields} } }`

/** A background completion, as REST returns it. */
function outcomeIn({ id, size, completion }: GraphData): Partial<Said> {
  const { state, checked, failure, file, md5 } = completion ?? {}
  if (!state || (state === 'COMPLETED' && !file)) return { code: 'UPLOAD_NOT_FOUND' }
  if (state === 'COMPLETING') return { status: 202, value: { upload_id: id, size, checked } }
  if (failure) return { code: failure.code, msg: failure.message, value: failure }
  return { value: { ...completedIn(id, file), md5_checksum: md5, size } }
}

const completedIn = (id: string, { parent, md5, contentType, ...file }: GraphData) => ({
  upload_id: id,
  file_name: file.path,
  md5_checksum: md5,
  size: file.size,
  file: { ...file, folder: parent.path, md5_checksum: md5, file_type: contentType },
})

/** By GraphQL, with the names of REST. */
export function graphqlUploader(person: Person, workspaceId?: string): Uploader {
  const ask = async (
    query: string,
    variables: object,
    read: (data: GraphData) => unknown,
    file?: File,
  ): Promise<Said> => {
    const { status, data, errors } = await person.graphql<GraphData>(query, variables, file)
    return {
      status,
      code: errors?.[0]?.extensions.code,
      msg: errors?.[0]?.message ?? '',
      value: errors || !data ? null : read(data),
    }
  }
  const change = (
    name: string,
    selection: string,
    input: object,
    read: (payload: GraphData) => unknown,
    file?: File,
  ) =>
    ask(
      `mutation ($input: ${name.charAt(0).toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${selection} } }`,
      { input },
      data => read(data[name]),
      file,
    )
  return {
    start: async ({ filename: fileName, content_type: contentType, ...input }) =>
      change(
        'startUpload',
        'uploadSession { id chunkSize partCount expiresAt parts { number url } }',
        {
          drive: workspaceId && (await driveOf(person, workspaceId)),
          fileName,
          contentType,
          ...input,
        },
        ({ uploadSession: { id, chunkSize, partCount, expiresAt, parts } }) => ({
          upload_id: id,
          chunk_size: chunkSize,
          part_count: partCount,
          expires_at: expiresAt,
          parts:
            parts?.map(({ number, url }: { number: number; url: string }) => ({
              part_number: number,
              url,
            })) ?? null,
        }),
      ),
    part: (uploadSession, number, { bytes, contentMd5 }) =>
      change(
        'uploadPart',
        'number size crc32',
        { uploadSession, number, part: null, ...(contentMd5 ? { md5: contentMd5 } : {}) },
        ({ number, size, crc32 }) => ({ part_number: number, size, crc32 }),
        new File([bytes as Uint8Array<ArrayBuffer>], 'part'),
      ),
    async look(id) {
      const said = await ask(
        'query ($id: ID!) { node(id: $id) { ... on UploadSession { fileName folder size chunkSize received expiresAt } } }',
        { id },
        ({ node }) =>
          node && {
            upload_id: id,
            filename: node.fileName,
            folder: node.folder,
            size: node.size,
            chunk_size: node.chunkSize,
            received: node.received,
            expires_at: node.expiresAt,
          },
      )
      // A missing node is null, not an error.
      return said.value || said.code ? said : { ...said, code: 'UPLOAD_NOT_FOUND' }
    },
    complete: (uploadSession, { filename: fileName, ...input } = {}) =>
      change(
        'completeUpload',
        `completedId file { ${fileFields} }`,
        { uploadSession, fileName, ...input },
        ({ completedId, file }) => completedIn(completedId, file),
      ),
    async begin(uploadSession, { filename: fileName, ...input } = {}, wait = 0) {
      const given = { uploadSession, fileName, wait, ...input }
      const said = await change(
        'beginCompletion',
        `uploadSession { ${completionFields} }`,
        given,
        payload => payload,
      )
      return said.value ? { ...said, ...outcomeIn(said.value.uploadSession) } : said
    },
    async outcome(id) {
      const query = `query ($id: ID!) { node(id: $id) { ... on UploadSession { ${completionFields} } } }`
      const said = await ask(query, { id }, data => data)
      return {
        ...said,
        ...(said.value.node ? outcomeIn(said.value.node) : { code: 'UPLOAD_NOT_FOUND' }),
      }
    },
    abort: uploadSession => change('abortUpload', 'abortedId', { uploadSession }, () => null),
  }
}
