import type { Person, RestAnswer } from './harness.ts'

/** What an answer says, whichever face gave it: the code of the error, or the value with names as on the wire. */
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

/** Uploads in parts of one person into one place, by one face. */
export interface Uploader {
  start(input: Record<string, unknown>): Promise<Said>
  part(id: string, number: number, part: Part): Promise<Said>
  look(id: string): Promise<Said>
  complete(id: string, input?: Record<string, unknown>): Promise<Said>
  abort(id: string): Promise<Said>
}

/** The faces of an upload in parts: of own files and of a workspace, by REST and by GraphQL. */
export const faces = [
  { face: 'own files by REST', front: '', by: (who: Person, _workspaceId: string) => restUploader(who) },
  { face: 'own files by GraphQL', front: '', by: (who: Person, _workspaceId: string) => graphqlUploader(who) },
  { face: 'a workspace by REST', front: '/', by: restUploader },
  { face: 'a workspace by GraphQL', front: '/', by: graphqlUploader },
]

/** By REST. @param workspaceId into this workspace; the person's own files without it */
export function restUploader(person: Person, workspaceId?: string): Uploader {
  const base = workspaceId ? `/api/workspaces/${workspaceId}/files/uploads` : '/api/files/uploads'
  const at = (id: string) => `${base}/${encodeURIComponent(id)}`
  const said = ({ status, msg, response }: RestAnswer): Said => ({ status, code: response?.code, msg, value: response })
  return {
    start: async json => said(await person.rest('POST', base, { json })),
    part: async (id, number, { bytes, contentMd5 }) =>
      said(
        await person.rest('PUT', `${at(id)}/parts/${number}`, {
          body: bytes,
          headers: { 'content-type': 'application/octet-stream', ...(contentMd5 ? { 'content-md5': contentMd5 } : {}) },
        }),
      ),
    look: async id => said(await person.rest('GET', at(id))),
    complete: async (id, json = {}) => said(await person.rest('POST', `${at(id)}/complete`, { json })),
    abort: async id => said(await person.rest('DELETE', at(id))),
  }
}

const started =
  '{ upload_id: id chunk_size: chunkSize part_count: partCount expires_at: expiresAt parts { part_number: partNumber url } }'
const looked = '{ upload_id: id filename folder size chunk_size: chunkSize received expires_at: expiresAt }'
const received = '{ part_number: partNumber size }'
const completed =
  '{ upload_id: uploadId file_name: fileName md5_checksum: md5Checksum size file { id name path folder size md5_checksum: md5Checksum file_type: fileType } }'

/** By GraphQL, with the names of REST. */
export function graphqlUploader(person: Person, workspaceId?: string): Uploader {
  const of = workspaceId ? { workspaceId } : {}
  const W = workspaceId ? 'Workspace' : ''
  const ask = async (kind: string, input: Record<string, unknown>, selection: string, file?: File): Promise<Said> => {
    const type = `${kind[0]?.toUpperCase()}${kind.slice(1)}Input!`
    const query = `mutation($input: ${type}) { value: ${kind}(input: $input) ${selection} }`
    const { status, data, errors } = await person.graphql<{ value: unknown }>(
      query,
      { input: { ...of, ...input } },
      file,
    )
    return { status, code: errors?.[0]?.extensions.code, msg: errors?.[0]?.message ?? '', value: data?.value }
  }
  const camel = (input: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(input).map(([k, v]) => [k.replaceAll(/_(\w)/g, (_, l) => l.toUpperCase()), v]))
  return {
    start: input => ask(`start${W}Upload`, camel(input), started),
    part: (uploadId, partNumber, { bytes, contentMd5 }) =>
      ask(
        `upload${W}Part`,
        { uploadId, partNumber, part: null, ...(contentMd5 ? { contentMd5 } : {}) },
        received,
        new File([bytes as Uint8Array<ArrayBuffer>], 'part'),
      ),
    look: async id => {
      const [field, types, args] = workspaceId
        ? ['workspaceUpload', '$workspaceId: ID!, $id: ID!', 'workspaceId: $workspaceId, id: $id']
        : ['upload', '$id: ID!', 'id: $id']
      const query = `query(${types}) { value: ${field}(${args}) ${looked} }`
      const { status, data, errors } = await person.graphql<{ value: unknown }>(query, { ...of, id })
      return { status, code: errors?.[0]?.extensions.code, msg: errors?.[0]?.message ?? '', value: data?.value }
    },
    complete: (uploadId, input = {}) => ask(`complete${W}Upload`, { uploadId, ...input }, completed),
    abort: uploadId => ask(`abort${W}Upload`, { uploadId }, ''),
  }
}
