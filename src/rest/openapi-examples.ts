import {
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLOutputType,
  getNullableType,
  isEnumType,
  isListType,
  isObjectType,
} from 'graphql'

const SOME_ID = '6f1c2b52-7d0e-4a58-9d3b-0c9f5e1a7b44'
const SOME_TIME = '2026-01-31T12:00:00.000Z'

/** What an input or an output of this name looks like, or of this name in this field or type. */
const examples: Record<string, unknown> = {
  'ApiKey.name': 'Nightly backup',
  'ApiKey.status': 'active',
  'BucketObject.name': 'docs/report.pdf',
  'CreatedApiKey.name': 'Nightly backup',
  'CreatedWorkspaceFolder.name': '2026',
  'CreatedWorkspaceFolder.path': '/docs',
  'DeletedFiles.files_failed': 'docs/missing.txt',
  'DeletedWorkspaceFile.file_deleted': '/docs/report.pdf',
  'DeletedWorkspaceFolder.folder_deleted': '/docs/2026',
  'DownloadLink.file_name': 'report.pdf',
  'EndedBucket.name': SOME_ID,
  'File.name': 'report.pdf',
  'File.path': 'docs/report.pdf',
  'Folder.name': '2026',
  'Identity.name': 'Alice Example',
  'Invite.email': 'bob@example.org',
  'Member.email': 'bob@example.org',
  'Member.name': 'Bob Example',
  'MovedFolder.destination': 'archive/2026',
  'MovedFolder.source': 'docs/2026',
  'MovedWorkspaceFolder.destination': '/archive/2026',
  'MovedWorkspaceFolder.source': '/docs/2026',
  'MovedWorkspacePath.destination': '/archive/report.pdf',
  'MovedWorkspacePath.source': '/docs/report.pdf',
  'OwnInvite.email': 'bob@example.org',
  'OwnInvite.token': 'T0kEnOfTheInvite',
  'Session.address': '203.0.113.0/24',
  'Session.device': 'Firefox on Linux',
  'ShareInfo.file_name': 'report.pdf',
  'SharingInfo.file_name': 'report.pdf',
  'TreeFile.name': 'docs/report.pdf',
  'UploadedWorkspaceFile.file_name': 'report.pdf',
  'UploadedWorkspaceFile.path': '/docs',
  'User.name': 'Alice Example',
  'Workspace.name': 'Garden',
  'WorkspaceFile.folder': '/docs',
  'WorkspaceFile.name': 'report.pdf',
  'WorkspaceFile.path': '/docs/report.pdf',
  'WorkspaceTree.path': '/docs',
  'WorkspaceTreeFile.name': 'report.pdf',
  'WorkspaceTreeFolder.name': '2026',
  'TreeFolder.name': '2026',
  'CompletedWorkspaceUpload.file_name': '/docs/report.pdf',
  'FileTree.path': 'docs',
  'FolderList.path': 'docs',
  'acceptInvite.token': 'T0kEnOfTheInvite',
  'createFolder.path': 'docs/2026',
  'createInvite.email': 'bob@example.org',
  'createPrivateApiKey.name': 'Nightly backup',
  'createWorkspace.name': 'Garden',
  'createWorkspaceApiKey.name': 'Nightly backup',
  'createWorkspaceApiKey.scopes': 'workspaces:files:read',
  'deleteWorkspaceFile.path': '/docs/report.pdf',
  'deleteWorkspaceFolder.path': '/docs/2026',
  'moveFolder.destination': 'archive/2026',
  'moveFolder.source': 'docs/2026',
  'moveWorkspaceFile.destination': '/archive/report.pdf',
  'moveWorkspaceFile.source': '/docs/report.pdf',
  'moveWorkspaceFolder.destination': '/archive/2026',
  'moveWorkspaceFolder.source': '/docs/2026',
  'privateDownload.token': 'T0kEnOfOneOfTheOwnFiles',
  'rejectInvite.token': 'T0kEnOfTheInvite',
  'renameWorkspace.name': 'Garden',
  'shareFiles.email': 'bob@example.org',
  'uploadWorkspaceFile.folder': '/docs',
  'workspaceDownload.path': '/docs/report.pdf',
  'workspaceFileTree.path': '/docs',
  avatar_url: 'https://example.org/alice.png',
  bucket: SOME_ID,
  bucket_name: SOME_ID,
  checksum: '9e107d9d372bb6826bd81d3542a419d6',
  content: 'Agreed with Bob on Monday.',
  content_type: 'application/pdf',
  created_by_email: 'alice@example.org',
  day: '2026-01-31',
  description: 'Runs on the machine in the cellar.',
  destination: 'archive/report.pdf',
  duration: '7d',
  email: 'alice@example.org',
  expires_in: '90d',
  family_name: 'Example',
  file: 'docs/report.pdf',
  file_deleted: 'docs/report.pdf',
  file_name: 'docs/report.pdf',
  file_type: 'application/pdf',
  filename: 'report.pdf',
  files: 'docs/report.pdf',
  files_deleted: 'docs/report.pdf',
  folder: 'docs',
  folder_deleted: 'docs/2026',
  folder_name: '2026',
  folders: '2026',
  given_name: 'Alice',
  key: 'satchel_KeYtHaTiSsHoWnOnCe',
  key_hint: 'OnCe',
  limit: 100,
  locale: 'en',
  md5: '9e107d9d372bb6826bd81d3542a419d6',
  md5_checksum: '9e107d9d372bb6826bd81d3542a419d6',
  mode: 'download',
  sha256: 'd7a8fbb307d7809469ca9abcb0082e4f8d5651e46d3cdb762d08ba9a3a5a08b5',
  next_cursor: 'WyJyZXBvcnQucGRmIl0',
  note: 'Agreed with Bob on Monday.',
  notification_status: 'queued',
  object: 'docs/report.pdf',
  objects: 'docs/report.pdf',
  parent_path: '/docs',
  password: 'correct horse battery staple',
  path: 'docs/2026',
  picture: 'https://example.org/alice.png',
  plan_name: 'free',
  private_download_token: 'T0kEnOfOneOfTheOwnFiles',
  provider: 'google',
  provider_user_id: '104729',
  role: 'editor',
  scopes: 'private_files:read',
  shared_by: 'alice@example.org',
  shared_for: 'bob@example.org',
  sharing_link: 'https://files.example.org/share/T0kEnOfTheShare',
  sharing_token: 'T0kEnOfTheShare',
  slug: 'garden',
  source: 'docs/report.pdf',
  storage_class: 'STANDARD',
  token: 'T0kEnOfTheShare',
  token_revoked: 'T0kEnOfTheShare',
  uploaded_by_email: 'alice@example.org',
  url: 'https://store.example.org/satchel/6f1c2b52?sig=...',
  user_name: 'Alice Example',
  workspace_name: 'Garden',
  workspace_slug: 'garden',
}

/**
 * A value of a type of the REST view, the same one every time. Names as on the wire.
 * @param within the field that takes it, or the type that has it
 */
export function exampleOf(type: GraphQLInputType | GraphQLOutputType, name: string, within: string): unknown {
  const inner = getNullableType(type)
  if (isListType(inner)) return [exampleOf(inner.ofType, name, within)]
  if (isObjectType(inner))
    return Object.fromEntries(
      Object.values(inner.getFields()).map(f => [f.name, exampleOf(f.type, f.name, inner.name)]),
    )
  if (isEnumType(inner)) return inner.getValues()[0]?.name
  const known = examples[`${within}.${name}`] ?? examples[name]
  switch (String(inner)) {
    case 'Boolean':
      return true
    case 'Int':
    case 'Long':
      return typeof known === 'number' ? known : /size|bytes|used/.test(name) ? 1_048_576 : 3
    case 'ID':
      return SOME_ID
    case 'DateTime':
      return SOME_TIME
    case 'Labels':
      return {}
    case 'Void':
      return null
    case 'Upload':
      return '(bytes)'
    default:
      return typeof known === 'string' ? known : name
  }
}

/** The inputs of a request that a caller could send as it is, by name. */
export function exampleInputs(field: string, args: readonly GraphQLArgument[]): Record<string, unknown> {
  const names = args.map(arg => arg.name)
  // A file is named in one way only, and a cursor comes from an answer.
  const isByPath = names.includes('path') || names.includes('source')
  const shown = args.filter(({ name }) => name !== 'cursor' && !(name === 'file_id' && isByPath))
  return Object.fromEntries(shown.map(arg => [arg.name, exampleOf(arg.type, arg.name, field)]))
}
