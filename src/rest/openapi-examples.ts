import {
  type GraphQLInputType,
  type GraphQLOutputType,
  getNullableType,
  isEnumType,
  isListType,
  isObjectType,
} from 'graphql'
import { type ErrorCode, Forbidden, Unauthenticated, Unavailable } from '../errors.ts'

const SOME_ID = '6f1c2b52-7d0e-4a58-9d3b-0c9f5e1a7b44'
const SOME_TIME = '2026-01-31T12:00:00.000Z'

/** What a text of this name, or of this name in this type, looks like. */
const texts: Record<string, string> = {
  'File.name': 'report.pdf',
  'File.folder': 'docs',
  'Folder.name': '2026',
  'Folder.path': 'docs/2026',
  'FolderList.path': 'docs',
  'FileTree.path': 'docs',
  'FileTree.folders': '2026',
  'FolderList.folders': '2026',
  'User.name': 'Alice Example',
  'User.provider_user_id': 'alice',
  'User.plan_name': 'free',
  'DownloadLink.file_name': 'report.pdf',
  'ShareInfo.file_name': 'report.pdf',
  'DeletedFiles.files_failed': 'docs/missing.txt',
  bucket_name: SOME_ID,
  bucket: SOME_ID,
  checksum: '9e107d9d372bb6826bd81d3542a419d6',
  content: 'Agreed with Bob on Monday.',
  content_type: 'application/pdf',
  cursor: 'WyJyZXBvcnQucGRmIl0',
  destination: 'archive/report.pdf',
  duration: '7d',
  email: 'alice@example.org',
  family_name: 'Example',
  file: 'docs/report.pdf',
  file_deleted: 'docs/report.pdf',
  file_name: 'docs/report.pdf',
  file_type: 'application/pdf',
  files: 'docs/report.pdf',
  files_deleted: 'docs/report.pdf',
  folder: 'docs',
  folder_deleted: 'docs/2026',
  given_name: 'Alice',
  locale: 'en',
  md5: '9e107d9d372bb6826bd81d3542a419d6',
  md5_checksum: '9e107d9d372bb6826bd81d3542a419d6',
  mode: 'download',
  name: 'docs/report.pdf',
  next_cursor: 'WyJyZXBvcnQucGRmIl0',
  note: 'Agreed with Bob on Monday.',
  object: 'docs/report.pdf',
  password: 'correct horse battery staple',
  path: 'docs/report.pdf',
  picture: 'https://example.org/alice.png',
  private_download_token: 'T0kEnOfOneOfTheOwnFiles',
  provider: 'google',
  role: 'editor',
  shared_by: 'alice@example.org',
  shared_for: 'bob@example.org',
  sharing_link: 'https://files.example.org/share/T0kEnOfTheShare',
  sharing_token: 'T0kEnOfTheShare',
  slug: 'example-team',
  source: 'docs/report.pdf',
  storage_class: 'STANDARD',
  token: 'T0kEnOfTheShare',
  token_revoked: 'T0kEnOfTheShare',
  url: 'https://store.example.org/satchel/6f1c2b52?sig=...',
}

/** A value of a type of the REST view, the same one every time. Names as on the wire. */
export function exampleOf(type: GraphQLInputType | GraphQLOutputType, name: string, within = ''): unknown {
  const inner = getNullableType(type)
  if (isListType(inner)) return [exampleOf(inner.ofType, name, within)]
  if (isObjectType(inner))
    return Object.fromEntries(
      Object.values(inner.getFields()).map(f => [f.name, exampleOf(f.type, f.name, inner.name)]),
    )
  if (isEnumType(inner)) return inner.getValues()[0]?.name
  switch (String(inner)) {
    case 'Boolean':
      return true
    case 'Int':
    case 'Long':
      return /size|bytes|used/.test(name) ? 1_048_576 : 3
    case 'ID':
      return SOME_ID
    case 'DateTime':
      return SOME_TIME
    case 'Labels':
      return {}
    default:
      return texts[`${within}.${name}`] ?? texts[name] ?? name
  }
}

const messages: Partial<Record<ErrorCode, string>> = {
  UNAUTHENTICATED: new Unauthenticated().message,
  FORBIDDEN: new Forbidden().message,
  PATH_EXISTS: 'There is something with this name already. Choose another one.',
  RATE_LIMITED: 'That was too often. Try again in 12 seconds.',
  INTERNAL: 'Something went wrong on our side. Tell the operator the request id.',
  UNAVAILABLE: new Unavailable('database').message,
}

/**
 * One of the errors that a route answers with a status.
 * @param input an argument of the route that can be missing, or given twice
 */
export function exampleError(status: number, codes: ErrorCode[], input?: { name: string; required: boolean }): object {
  if (input && codes.includes('INVALID_INPUT')) {
    const msg = `"${input.name}" is ${input.required ? 'missing' : 'given more than once'}.`
    return { status, msg, response: { code: 'INVALID_INPUT', field: input.name } }
  }
  const code = codes.find(c => c in messages) ?? codes.at(-1)
  const msg = (code && messages[code]) ?? 'There is no such thing. Check the names in your request.'
  return { status, msg, response: { code, ...(code === 'RATE_LIMITED' ? { retry_after: 12 } : {}) } }
}
