import type { Rule } from './authorization.ts'
import { NOWHERE, type Things } from './authorization-world.ts'
import { driveOf } from './builders.ts'
import type { Person } from './harness.ts'

/** A GraphQL operation and its target: one row of the table. */
export interface GraphRow extends Rule {
  /** The row tests the first root field of this document. */
  document: string
  /** The path of the tested value in the response. */
  at: string
  /** Builds the variables, with targets that no other row needs afterwards. */
  variables(things: Things, caller: Person): object | Promise<object>
  /** The operation uploads an empty file, named like the other entries. */
  file?: true
}

type Variables = GraphRow['variables']

const READ = 'private_files:read'
const WRITE = 'private_files:write'
const DELETE = 'private_files:delete'
const SHARE = 'private_files:share'
const WORKSPACE_READ = 'workspaces:files:read'
const WORKSPACE_WRITE = 'workspaces:files:write'
const WORKSPACE_DELETE = 'workspaces:files:delete'
const MEMBERS = 'workspaces:members:manage'
const INVITES = 'workspaces:invites:manage'

const nothing = () => ({})

const SEARCH =
  'query ($drives: [ID!]) { search(query: "x", drives: $drives) { nodes { name entry { id } share { id } } edges { matchedIn snippet { text ranges { start end } } } hints { term message } isComplete } }'

/** A row for a query. Its title is its root field and the tested field below it. */
const query = (
  title: string,
  [access, scope]: [string, string | null],
  document: string,
  at: string,
  variables: Variables = nothing,
  more: Partial<GraphRow> = {},
): GraphRow => ({ title, access, scope, document, at, variables, ...more })

/** A row for a mutation, named by the first word of its title. */
const mutation = (
  title: string,
  [access, scope]: [string, string | null],
  selection: string,
  input: Variables,
  more: Partial<GraphRow> = {},
): GraphRow => {
  const name = title.replace(/ .*/, '')
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`
  return {
    title,
    access,
    scope,
    document: `mutation ($input: ${type}!) { ${name}(input: $input) { ${selection} } }`,
    at: name,
    variables: async (things, caller) => ({ input: await input(things, caller) }),
    ...more,
  }
}

const ME = { access: 'signed-in', scope: READ }
const WORKSPACE = { access: 'viewer', scope: 'workspaces:*', names: 'workspace' } as const

const my = (field: string, selection = '') =>
  query(
    `me { ${field} }`,
    ['session', null],
    `{ me { ${field}${selection} } }`,
    `me.${field}`,
    nothing,
    { under: ME },
  )

const ofWorkspace: Variables = ({ workspaceId }) => ({ id: workspaceId })

const inWorkspace = (
  field: string,
  selection: string,
  [access, scope]: [string, string | null],
  more = {},
) =>
  query(
    `workspace { ${field} }`,
    [access, scope],
    `query ($id: ID!) { workspace(id: $id) { ${field} ${selection} } }`,
    `workspace.${field}`,
    ofWorkspace,
    { names: 'workspace', under: WORKSPACE, ...more },
  )

/** A node is returned to callers who may see it, and null to everyone else. */
const node = (
  type: string,
  [access, scope]: [string, string | null],
  id: (things: Things) => Promise<string> | string,
  selection = 'id',
  more: Partial<GraphRow> = {},
): GraphRow =>
  query(
    `node (${type})`,
    [access, scope],
    `query ($id: ID!) { node(id: $id) { ... on ${type.replace(/ .*/, '')} { ${selection} } } }`,
    'node',
    async things => ({ id: await id(things) }),
    { unknown: 'null', ...more },
  )

const OPERATOR: [string, null] = ['operator', null]
const SESSION: [string, null] = ['session', null]

const ofFile =
  'parent { id } isFavourite preview { url photo { camera } } tags { id } download { url } note shareCount locks { id holder { id } } shares { nodes { id file { id } } } events { nodes { id entry { id } } }'

const queries: GraphRow[] = [
  query('me', ['signed-in', READ], '{ me { id } }', 'me'),
  query('maintenance', ['public', null], '{ __typename maintenance { endsAt } }', '__typename'),
  query(
    'me { drive, statistics, shares, receivedShares, unseenShareCount }',
    ['signed-in', READ],
    `{ me { drive { usage { usedBytes } root { entries { nodes { id parent { id } } } } entry(path: "") { id }
      search(query: "x") { nodes { id } } } statistics { totalFiles } shares { nodes { id file { id } entry { id } entries { id } events { nodes { kind } } } }
      receivedShares { nodes { id file { id } entry { id } } } unseenShareCount } }`,
    'me',
  ),
  query(
    'me { note }',
    ['owner of it', READ],
    'query ($md5: String!) { me { note(md5: $md5) } }',
    'me.note',
    async ({ content }) => ({ md5: await content() }),
    { stranger: 'FILE_NOT_FOUND' },
  ),
  my('apiKeys', ' { nodes { id workspace { id } } }'),
  my('shareRecipients', ' { email shareCount }'),
  query(
    'me { accessOf }',
    SESSION,
    `{ me { accessOf(email: "x@example.com") { email shares { nodes { id } }
      receivedShares { nodes { id } } members { id } } } }`,
    'me.accessOf',
    nothing,
    { under: ME },
  ),
  my('identities', ' { id }'),
  query(
    'me { loginRequest }',
    SESSION,
    'query ($userCode: String!) { me { loginRequest(userCode: $userCode) { userCode } } }',
    'me.loginRequest',
    async things => ({ userCode: await things.userCode() }),
    { under: ME },
  ),
  my('webhooks', ' { id workspace { id } }'),
  my('events', ' { nodes { id kind } }'),
  query(
    'me { drive { events, eventCursor } }',
    ['signed-in', READ],
    '{ me { drive { events { nodes { id entry { id } } } eventCursor } } }',
    'me.drive.events',
  ),
  query(
    'me { drive { entry { events } } }',
    ['signed-in', READ],
    '{ me { drive { entry(path: "") { events { nodes { id } } } } } }',
    'me.drive.entry.events',
  ),
  query(
    'me { drive { root { events } } }',
    ['signed-in', READ],
    '{ me { drive { root { events { nodes { id } } } } } }',
    'me.drive.root.events',
  ),
  query(
    'me { favourites, recent }',
    ['signed-in', READ],
    '{ me { favourites { id entry { id isFavourite } share { id isFavourite } } recent { nodes { kind entry { id } } } } }',
    'me.favourites',
  ),
  query(
    'me { recent }',
    ['signed-in', READ],
    '{ me { recent { nodes { kind entry { id } } } } }',
    'me.recent',
  ),
  query(
    'me { drive { root { isFavourite } } }',
    ['signed-in', READ],
    '{ me { drive { root { isFavourite locks { id } } } } }',
    'me.drive.root.isFavourite',
  ),
  query(
    'me { drive { tags } }',
    ['signed-in', READ],
    '{ me { drive { tags { id entryCount entries { nodes { id } } } } } }',
    'me.drive.tags',
  ),
  query(
    'me { drive { pictures, pictureMonths } }',
    ['signed-in', READ],
    '{ me { drive { pictures { nodes { id } } pictureMonths { month count } } } }',
    'me.drive.pictures',
  ),
  query(
    'me { drive { root { tags } } }',
    ['signed-in', READ],
    '{ me { drive { root { tags { id } } } } }',
    'me.drive.root.tags',
  ),
  my('invites', ' { nodes { id workspace { id } } }'),
  my('sessions', ' { id }'),
  my('signInNotices'),
  my('workspaces', ' { nodes { id } }'),
  query(
    'workspace',
    ['viewer', 'workspaces:*'],
    'query ($id: ID!) { workspace(id: $id) { id } }',
    'workspace',
    ofWorkspace,
    {
      names: 'workspace',
    },
  ),
  inWorkspace(
    'name',
    'slug createdAt role permissions owner { id } memberCount maxMembers apiKeyCount maxApiKeys',
    ['viewer', 'workspaces:read'],
  ),
  inWorkspace('members', '{ nodes { id } }', ['viewer', 'workspaces:members:read']),
  inWorkspace('drive', '{ id }', ['viewer', 'workspaces:*']),
  inWorkspace(
    'drive',
    '{ usage { usedBytes } root { entries { nodes { id } } } }',
    ['viewer', WORKSPACE_READ],
    {
      title: 'workspace { drive { usage, root } }',
      at: 'workspace.drive.usage',
    },
  ),
  inWorkspace(
    'drive',
    '{ events { nodes { id entry { id } } } eventCursor }',
    ['viewer', WORKSPACE_READ],
    {
      title: 'workspace { drive { events, eventCursor } }',
      at: 'workspace.drive.events',
    },
  ),
  inWorkspace(
    'drive',
    '{ tags { id entryCount } root { tags { id } } }',
    ['viewer', WORKSPACE_READ],
    {
      title: 'workspace { drive { tags } }',
      at: 'workspace.drive.tags',
    },
  ),
  inWorkspace(
    'drive',
    '{ pictures { nodes { id } } pictureMonths { month count } }',
    ['viewer', WORKSPACE_READ],
    {
      title: 'workspace { drive { pictures, pictureMonths } }',
      at: 'workspace.drive.pictures',
    },
  ),
  inWorkspace('invites', '{ nodes { id } }', ['admin', INVITES], { hides: true }),
  inWorkspace('apiKeys', '{ nodes { id } }', ['session admin', null], { hides: true }),
  inWorkspace('webhooks', '{ id }', ['session admin', null], { hides: true }),
  query(
    'share',
    ['public', null],
    'query ($token: String!) { share(token: $token) { fileName } }',
    'share',
    async ({ share }) => ({
      token: await share(),
    }),
  ),
  query(
    'sharedFolder',
    ['public', null],
    'query ($token: String!) { sharedFolder(token: $token) { entries { name } } }',
    'sharedFolder',
    async ({ shareFolder }) => ({ token: await shareFolder() }),
  ),
  ...[
    'accounts { nodes { id } }',
    'mailQueue { waiting }',
    'operators { bySetting }',
    'plans { accountCount }',
    'serviceHealth { findings { kind } }',
    'storageReport { usedBytes space { freeBytes } largestAccounts { id } largestWorkspaces { owner { id } } }',
  ].map(field =>
    query(
      field.replace(/ .*/, ''),
      OPERATOR,
      `{ operator { ${field} } }`,
      `operator.${field.replace(/ .*/, '')}`,
    ),
  ),
  node('Viewer', ['owner of it', READ], ({ owner }) => `viewer:${owner.userId}`, 'id', {
    blind: 'workspace keys',
  }),
  node('Drive', ['owner of it', READ], ({ owner }) => driveOf(owner)),
  node(
    'Drive of a workspace',
    ['viewer', WORKSPACE_READ],
    ({ owner, workspaceId }) => driveOf(owner, workspaceId),
    'id',
    {
      names: 'workspace',
    },
  ),
  node('File', ['owner of it', READ], async ({ upload }) => (await upload()).id, ofFile),
  node(
    'File of a workspace',
    ['viewer', WORKSPACE_READ],
    ({ putFile }) => putFile(),
    'id parent { id } download { url } events { nodes { id } }',
    {
      names: 'workspace',
    },
  ),
  query(
    'nodes',
    ['owner of it', READ],
    'query ($id: ID!) { nodes(ids: [$id]) { ... on File { id } } }',
    'nodes.0',
    async ({ upload }) => ({ id: (await upload()).id }),
    { unknown: 'null' },
  ),
  node(
    'Favourite',
    ['owner of it', READ],
    async ({ favourite }) => (await favourite()).id,
    'id entry { id }',
    {
      blind: 'workspace keys',
    },
  ),
  node('Tag', ['owner of it', READ], ({ tag }) => tag(), 'id entryCount entries { nodes { id } }'),
  node(
    'Version',
    ['owner of it', READ],
    ({ version }) => version(),
    'id file { id } download { url }',
  ),
  node(
    'Version of a workspace',
    ['viewer', WORKSPACE_READ],
    ({ versionInWorkspace }) => versionInWorkspace(),
    'id',
    {
      names: 'workspace',
    },
  ),
  node('BackgroundCopy', ['owner of it', WRITE], ({ copy }) => copy(), 'id state'),
  node(
    'BackgroundCopy { drive, entries }',
    ['owner of it', WRITE],
    ({ copy }) => copy(),
    'drive { id } entries { id }',
  ),
  node(
    'BackgroundCopy of a workspace',
    ['owner of it', WORKSPACE_WRITE],
    ({ copy, workspaceId }) => copy(workspaceId),
    'id state',
    { names: 'workspace' },
  ),
  query(
    'me { filesView }',
    ['signed-in', READ],
    '{ me { filesView { layout } } }',
    'me.filesView.layout',
  ),
  query('me { copies }', ['signed-in', READ], '{ me { copies { id } } }', 'me.copies'),
  node('FileRequest', ['owner of it', SHARE], async ({ fileRequest }) => (await fileRequest()).id),
  node(
    'FileRequest of a workspace',
    ['owner of it', WORKSPACE_WRITE],
    async ({ fileRequest, workspaceId }) => (await fileRequest(workspaceId)).id,
    'id folder { id } senders { name } receipts { nodes { fileName file { id } } }',
    { names: 'workspace' },
  ),
  query(
    'me { fileRequests }',
    ['signed-in', SHARE],
    '{ me { fileRequests { nodes { id receipts { nodes { fileName } } } } } }',
    'me.fileRequests',
    nothing,
    { under: ME },
  ),
  query(
    'me { drive { fileRequests } }',
    ['signed-in', SHARE],
    '{ me { drive { fileRequests { nodes { id } } } } }',
    'me.drive.fileRequests',
    nothing,
    { under: ME },
  ),
  query(
    'fileRequest',
    ['public', null],
    'query ($token: String!) { fileRequest(token: $token) { label } }',
    'fileRequest',
    async ({ fileRequest }) => ({ token: (await fileRequest()).token }),
  ),
  node('UploadSession', ['owner of it', WRITE], ({ started }) => started()),
  node('Workspace', ['viewer', 'workspaces:*'], ({ workspaceId }) => workspaceId, 'id', {
    names: 'workspace',
    blind: 'keys of others',
  }),
  node(
    'Member',
    ['viewer', 'workspaces:members:read'],
    ({ owner, workspaceId }) => `member:${workspaceId}:${owner.userId}`,
    'id',
    {
      names: 'workspace',
      blind: 'keys of others',
    },
  ),
  node(
    'Invite of a workspace',
    ['admin', INVITES],
    ({ inviteSomebody }) => inviteSomebody(),
    'id',
    {
      names: 'workspace',
      hides: true,
      blind: 'keys of others',
    },
  ),
  node('Invite', ['invitee', null], async ({ invited }) => (await invited()).id, 'token', {
    at: 'node.token',
    blind: 'keys',
  }),
  node('ApiKey', ['owner of it', null], ({ ownKey }) => ownKey(), 'id', { blind: 'keys' }),
  node(
    'ApiKey of a workspace',
    ['admin', null],
    ({ keyOfWorkspace }) => keyOfWorkspace(),
    'id workspace { id }',
    {
      hides: true,
      blind: 'keys',
    },
  ),
  node(
    'Webhook',
    ['owner of it', null],
    async ({ webhook }) => (await webhook('person')).webhook,
    'id',
    {
      blind: 'keys',
    },
  ),
  node(
    'Webhook of a workspace',
    ['admin', null],
    async ({ webhook }) => (await webhook('workspace')).webhook,
    'id workspace { id }',
    { hides: true, blind: 'keys' },
  ),
  node(
    'LinkShare',
    ['owner of it', READ],
    ({ linkId }) => linkId(),
    'id file { id } events { nodes { kind } } usage { openCount } dailyUsage(days: 1) { openCount } notifies',
    {
      blind: 'workspace keys',
    },
  ),
  node(
    'DirectShare',
    ['sharer or recipient', READ],
    ({ directShareId }) => directShareId(),
    'id file { id } entries { id } events { nodes { kind } } usage { openCount } dailyUsage(days: 1) { openCount } notifies',
    {
      blind: 'workspace keys',
    },
  ),
  node('Session', ['owner of it', null], ({ anotherSession }) => anotherSession(), 'id', {
    blind: 'keys',
  }),
  node('Event', ['owner of it', READ], async ({ owner, upload }) => {
    await upload()
    return `event:${await driveOf(owner)}:1`
  }),
  node('Identity', ['owner of it', null], ({ identity }) => identity(), 'id', { blind: 'keys' }),
  query(
    'node (Account)',
    OPERATOR,
    'query ($id: ID!) { node(id: $id) { id } }',
    'node',
    ({ owner }) => ({ id: `account:${owner.userId}` }),
    { hides: true, blind: 'keys' },
  ),
]

const folderIn =
  (drive: (things: Things) => Promise<string> | string) => async (things: Things) => ({
    at: { drive: await drive(things), path: things.name },
  })
const drives = {
  own: ({ owner }: Things) => driveOf(owner),
  ofWorkspace: ({ owner, workspaceId }: Things) => driveOf(owner, workspaceId),
}
/** The target is looked up first, and callers without access get "not found". */
const file = { unknown: 'FILE_NOT_FOUND' } as const
const drive = { unknown: 'FORBIDDEN' } as const
const upload = { unknown: 'UPLOAD_NOT_FOUND' } as const
const ofVersion = { stranger: 'VERSION_NOT_FOUND', unknown: 'VERSION_NOT_FOUND' } as const
const ofLock = { stranger: 'LOCK_NOT_FOUND', unknown: 'LOCK_NOT_FOUND' } as const
const inWs = { names: 'workspace' } as const
const byPath = ({ path }: { path: string }) => ({ at: { path } })

const ofAFile = (field: string) => ({ field, selection: `... on File { ${field} }` })
const ofAnyEntry = (field: string) => ({
  field,
  selection: `${field} ... on File { ${field} } ... on Folder { ${field} }`,
})

/** A target inside the share that the recipient may edit. The share takes the role of a drive. */
const inShare = async ({ shareToEdit }: Things, path: string) => ({
  drive: (await shareToEdit()).id,
  path,
})

const toEdit: GraphRow[] = [
  mutation(
    'createFolder (in a share)',
    ['recipient', WRITE],
    'folder { id }',
    async things => ({ at: await inShare(things, `${things.name}-new`) }),
    drive,
  ),
  mutation(
    'uploadFile (into a share)',
    ['recipient', WRITE],
    'file { id }',
    async things => ({ file: null, folder: { at: await inShare(things, 'new') } }),
    { file: true, ...drive },
  ),
  mutation(
    'startUpload (into a share)',
    ['recipient', WRITE],
    'uploadSession { id }',
    async things => ({
      fileName: `${things.name}-new`,
      size: 0,
      drive: (await inShare(things, '')).drive,
    }),
    drive,
  ),
  mutation(
    'moveEntries (in a share)',
    ['recipient', WRITE],
    'entries { id }',
    async things => ({
      entries: [{ at: await inShare(things, things.name) }],
      name: `${things.name}-moved`,
    }),
    drive,
  ),
  mutation(
    'deleteEntries (in a share)',
    ['recipient', DELETE],
    'deletedIds',
    async things => ({ entries: [{ at: await inShare(things, things.name) }] }),
    drive,
  ),
]

const onFiles: GraphRow[] = [
  query(
    'search',
    ['owner of it', READ],
    SEARCH,
    'search',
    async things => ({ drives: [await drives.own(things)] }),
    drive,
  ),
  query(
    'search (of a workspace)',
    ['viewer', WORKSPACE_READ],
    SEARCH,
    'search',
    async things => ({ drives: [await drives.ofWorkspace(things)] }),
    { ...drive, ...inWs },
  ),
  mutation('createFolder', ['signed-in', WRITE], 'folder { id }', ({ name }) => ({
    at: { path: name },
  })),
  mutation(
    'createFolder (by drive)',
    ['owner of it', WRITE],
    'folder { id }',
    folderIn(drives.own),
    drive,
  ),
  mutation(
    'createFolder (of a workspace)',
    ['editor', WORKSPACE_WRITE],
    'folder { id }',
    folderIn(drives.ofWorkspace),
    {
      ...drive,
      ...inWs,
    },
  ),
  mutation(
    'createFolder { parent }',
    ['signed-in', READ],
    'parent { id parent { id } }',
    ({ name }) => ({ at: { path: `${name}/in` } }),
    {
      at: 'createFolder.parent',
    },
  ),
  mutation('uploadFile', ['signed-in', WRITE], 'file { id }', () => ({ file: null }), {
    file: true,
  }),
  mutation(
    'uploadFile (of a workspace)',
    ['editor', WORKSPACE_WRITE],
    'file { id }',
    async things => ({
      file: null,
      folder: { at: { drive: await drives.ofWorkspace(things), path: '' } },
    }),
    { file: true, ...drive, ...inWs },
  ),
  mutation(
    'uploadFile { folder }',
    ['signed-in', READ],
    'folder { id }',
    ({ name }) => ({ file: null, folder: { at: { path: name } } }),
    {
      file: true,
      at: 'uploadFile.folder',
    },
  ),
  ...[
    'download { url }',
    'note',
    'shareCount',
    'shares { nodes { id } }',
    'versions { nodes { id } }',
    'events { nodes { id } }',
    'parent { id }',
  ].map(field =>
    mutation(
      `uploadFile { file { ${field.replace(/ .*/, '')} } }`,
      ['signed-in', READ],
      `file { ${field} }`,
      () => ({ file: null }),
      {
        file: true,
        at: `uploadFile.file.${field.replace(/ .*/, '')}`,
      },
    ),
  ),
  ...[
    'owner { __typename }',
    'usage { usedBytes }',
    'root { id }',
    'entry(path: "") { id }',
    'search(query: "x") { nodes { id } }',
    'trash { nodes { id } }',
  ].map(field =>
    mutation(
      `createFolder { drive { ${field.replace(/[ (].*/, '')} } }`,
      ['signed-in', READ],
      `drive { ${field} }`,
      ({ name }) => ({ at: { path: name } }),
      {
        at: `createFolder.drive.${field.replace(/[ (].*/, '')}`,
      },
    ),
  ),
  ...['entries { nodes { id } }', 'shareCount', 'shares { nodes { id } }'].map(field =>
    mutation(
      `createFolder { folder { ${field.replace(/ .*/, '')} } }`,
      ['signed-in', READ],
      `folder { ${field} }`,
      ({ name }) => ({ at: { path: name } }),
      {
        at: `createFolder.folder.${field.replace(/ .*/, '')}`,
      },
    ),
  ),
  mutation(
    'moveEntries',
    ['owner of it', WRITE],
    'entries { id }',
    async ({ name, upload }) => ({ entries: [byPath(await upload())], name: `${name}-moved` }),
    {
      stranger: 'FILE_NOT_FOUND',
    },
  ),
  mutation(
    'moveEntries (by id)',
    ['owner of it', WRITE],
    'entries { id }',
    async ({ name, upload }) => ({ entries: [{ id: (await upload()).id }], name: `${name}-moved` }),
    file,
  ),
  mutation(
    'moveEntries (of a workspace)',
    ['editor', WORKSPACE_WRITE],
    'entries { id }',
    async ({ name, putFile }) => ({ entries: [{ id: await putFile() }], name: `${name}-moved` }),
    {
      ...file,
      ...inWs,
    },
  ),
  mutation(
    'zipEntries',
    ['owner of it', READ],
    'download { url }',
    async ({ upload }) => ({ entries: [byPath(await upload())] }),
    {
      stranger: 'FILE_NOT_FOUND',
    },
  ),
  mutation(
    'zipEntries (of a workspace)',
    ['viewer', WORKSPACE_READ],
    'download { url }',
    async ({ putFile }) => ({ entries: [{ id: await putFile() }] }),
    { ...file, ...inWs },
  ),
  ...[WRITE, READ].map(scope =>
    mutation(
      scope === WRITE ? 'copyEntries' : 'copyEntries (what is read)',
      ['owner of it', scope],
      scope === WRITE ? 'entries { id }' : 'entries { id } to { id }',
      async ({ name, upload }) => ({
        entries: [byPath(await upload())],
        to: { at: { path: `${name}-copies` } },
      }),
      {
        stranger: 'FILE_NOT_FOUND',
      },
    ),
  ),
  ...[WRITE, READ].map(scope =>
    mutation(
      scope === WRITE ? 'saveSharedEntries' : 'saveSharedEntries { to }',
      ['signed-in', scope],
      scope === WRITE ? 'entries { id }' : 'to { id }',
      async ({ name, share }) => ({ token: await share(), to: { at: { path: `${name}-saved` } } }),
      scope === WRITE ? {} : { at: 'saveSharedEntries.to' },
    ),
  ),
  mutation(
    'saveSharedEntries (a direct share)',
    ['sharer or recipient', READ],
    'entries { id }',
    async ({ name, shareDirectly }) => ({
      token: await shareDirectly(),
      to: { at: { path: `${name}-saved` } },
    }),
    { stranger: 'FORBIDDEN' },
  ),
  ...toEdit,
  mutation(
    'moveEntries { from, to }',
    ['owner of it', READ],
    'from { id } to { id }',
    async ({ name, upload }) => ({
      entries: [byPath(await upload())],
      to: { at: { path: `${name}-to` } },
    }),
    {
      stranger: 'FILE_NOT_FOUND',
      at: 'moveEntries.to',
    },
  ),
  ...[
    ...[
      'size',
      'createdAt',
      'updatedAt',
      'revision',
      'tags { id }',
      'isFavourite',
      'createdBy { id }',
    ].map(ofAnyEntry),
    ...['contentType', 'md5'].map(ofAFile),
  ].map(({ field, selection }) =>
    mutation(
      `moveEntries { entries { ${field.replace(/ .*/, '')} } }`,
      ['owner of it', READ],
      `entries { ${selection} }`,
      async ({ name, upload }) => ({ entries: [byPath(await upload())], name: `${name}-moved` }),
      {
        stranger: 'FILE_NOT_FOUND',
        at: 'moveEntries.entries',
      },
    ),
  ),
  mutation(
    'addFavourites',
    ['owner of it', WRITE],
    'viewer { id } entries { id }',
    async ({ upload }) => ({ entries: [{ id: (await upload()).id }] }),
    { stranger: 'FILE_NOT_FOUND' },
  ),
  mutation(
    'removeFavourites',
    ['signed-in', WRITE],
    'viewer { id } entries { id }',
    async ({ favourite }) => ({
      entries: [(await favourite()).entryId],
    }),
  ),
  mutation(
    'moveFavourite',
    ['owner of it', WRITE],
    'viewer { id }',
    async ({ favourite }) => ({ favourite: (await favourite()).id }),
    { stranger: 'FAVOURITE_NOT_FOUND' },
  ),
  ...(['own', 'of a workspace'] as const).flatMap(where => {
    const isOwn = where === 'own'
    const who: [string, string] = isOwn ? ['owner of it', WRITE] : ['editor', WORKSPACE_WRITE]
    const title = (name: string) => (isOwn ? name : `${name} (${where})`)
    const tagOf = ({ tag, tagInWorkspace }: Things) => (isOwn ? tag() : tagInWorkspace())
    const about = (code: 'TAG_NOT_FOUND' | 'FILE_NOT_FOUND') =>
      isOwn ? { stranger: code, unknown: code } : { unknown: code, ...inWs }
    return [
      mutation(
        title('createTag'),
        isOwn ? ['signed-in', WRITE] : who,
        'tag { id }',
        async ({ name, owner, workspaceId }) => ({
          name,
          ...(isOwn ? {} : { drive: await driveOf(owner, workspaceId) }),
        }),
        isOwn ? {} : { ...drive, ...inWs },
      ),
      mutation(
        title('updateTag'),
        who,
        'tag { id }',
        async things => ({ tag: await tagOf(things), colour: 'BLUE' }),
        about('TAG_NOT_FOUND'),
      ),
      mutation(
        title('deleteTag'),
        who,
        'deletedId',
        async things => ({ tag: await tagOf(things) }),
        about('TAG_NOT_FOUND'),
      ),
      mutation(
        title('tagEntries'),
        who,
        'entries { id }',
        async things => ({
          entries: [{ id: isOwn ? (await things.upload()).id : await things.putFile() }],
          add: [await tagOf(things)],
        }),
        about('FILE_NOT_FOUND'),
      ),
    ]
  }),
  mutation(
    'restoreFromTrash',
    ['owner of it', WRITE],
    'removedIds',
    async ({ trashed }) => ({ items: [await trashed()] }),
    {
      stranger: 'TRASH_ITEM_NOT_FOUND',
      unknown: 'TRASH_ITEM_NOT_FOUND',
    },
  ),
  mutation(
    'deleteFromTrash',
    ['owner of it', DELETE],
    'deletedIds',
    async ({ trashed }) => ({ items: [await trashed()] }),
    {
      stranger: 'TRASH_ITEM_NOT_FOUND',
      unknown: 'TRASH_ITEM_NOT_FOUND',
    },
  ),
  mutation('emptyTrash', ['signed-in', DELETE], 'count', () => ({})),
  mutation(
    'restoreVersion',
    ['owner of it', WRITE],
    'removedId',
    async ({ version }) => ({ version: await version() }),
    ofVersion,
  ),
  mutation(
    'restoreVersion (of a workspace)',
    ['editor', WORKSPACE_WRITE],
    'removedId',
    async ({ versionInWorkspace }) => ({ version: await versionInWorkspace() }),
    { unknown: 'VERSION_NOT_FOUND', ...inWs },
  ),
  mutation(
    'restoreVersion { version }',
    ['owner of it', READ],
    'version { id }',
    async ({ version }) => ({ version: await version() }),
    { ...ofVersion, at: 'restoreVersion.version' },
  ),
  mutation(
    'endLock',
    ['owner of it', WRITE],
    'endedId',
    async ({ lock }) => ({ lock: await lock() }),
    ofLock,
  ),
  mutation(
    'endLock (of a workspace)',
    ['admin', WORKSPACE_WRITE],
    'endedId',
    async ({ lockInWorkspace }) => ({ lock: await lockInWorkspace() }),
    { unknown: 'LOCK_NOT_FOUND', ...inWs },
  ),
  mutation(
    'endLock { entry }',
    ['owner of it', READ],
    'entry { id }',
    async ({ lock }) => ({ lock: await lock() }),
    { ...ofLock, at: 'endLock.entry' },
  ),
  mutation(
    'deleteVersion',
    ['owner of it', DELETE],
    'deletedId',
    async ({ version }) => ({ version: await version() }),
    ofVersion,
  ),
  mutation(
    'deleteVersion (of a workspace)',
    ['editor', WORKSPACE_DELETE],
    'deletedId',
    async ({ versionInWorkspace }) => ({ version: await versionInWorkspace() }),
    { unknown: 'VERSION_NOT_FOUND', ...inWs },
  ),
  mutation(
    'deleteVersion { file }',
    ['owner of it', READ],
    'file { id }',
    async ({ version }) => ({ version: await version() }),
    { ...ofVersion, at: 'deleteVersion.file' },
  ),
  mutation(
    'deleteEntries',
    ['owner of it', DELETE],
    'deletedIds',
    async ({ upload }) => ({ entries: [byPath(await upload())] }),
    {
      stranger: 'FILE_NOT_FOUND',
    },
  ),
  mutation(
    'deleteEntries (by id)',
    ['owner of it', DELETE],
    'deletedIds',
    async ({ upload }) => ({ entries: [{ id: (await upload()).id }] }),
    file,
  ),
  mutation(
    'deleteEntries (of a workspace)',
    ['editor', WORKSPACE_DELETE],
    'deletedIds',
    async ({ putFile }) => ({ entries: [{ id: await putFile() }] }),
    {
      ...file,
      ...inWs,
    },
  ),
  mutation(
    'deleteEntries { folders }',
    ['owner of it', READ],
    'folders { id }',
    async ({ upload }) => ({ entries: [byPath(await upload())] }),
    {
      stranger: 'FILE_NOT_FOUND',
      at: 'deleteEntries.folders',
    },
  ),
  mutation(
    'deleteEntries { trashItems }',
    ['owner of it', READ],
    'trashItems { id }',
    async ({ upload }) => ({ entries: [byPath(await upload())] }),
    {
      stranger: 'FILE_NOT_FOUND',
      at: 'deleteEntries.trashItems',
    },
  ),
  mutation(
    'writeNote',
    ['owner of it', WRITE],
    'note',
    async ({ name, upload }) => ({ file: (await upload()).id, content: name }),
    {
      stranger: 'FILE_NOT_FOUND',
    },
  ),
  mutation(
    'writeNote { md5 }',
    ['owner of it', READ],
    'md5',
    async ({ name, upload }) => ({ file: (await upload()).id, content: name }),
    {
      stranger: 'FILE_NOT_FOUND',
      at: 'writeNote.md5',
    },
  ),
  mutation('startUpload', ['signed-in', WRITE], 'uploadSession { id }', ({ name }) => ({
    fileName: name,
    size: 0,
  })),
  mutation(
    'startUpload (of a workspace)',
    ['editor', WORKSPACE_WRITE],
    'uploadSession { id }',
    async things => ({ fileName: things.name, size: 0, drive: await drives.ofWorkspace(things) }),
    {
      ...drive,
      ...inWs,
    },
  ),
  ...(
    [
      ['abortUpload', 'abortedId', {}],
      ['beginCompletion', 'uploadSession { completion { state file { id } } }', {}],
      ['completeUpload', 'completedId', {}],
      ['uploadPart', 'uploadSession { received }', { number: 1, part: null }],
    ] as const
  ).flatMap(([name, selection, input]) => {
    const isPart = name === 'uploadPart' ? { file: true as const } : {}
    return [
      mutation(
        name,
        ['owner of it', WRITE],
        selection,
        async ({ started }) => ({ ...input, uploadSession: await started() }),
        {
          ...upload,
          ...isPart,
        },
      ),
      // A multipart upload belongs to its creator, whatever the role of others in the workspace.
      mutation(
        `${name} (of a workspace)`,
        ['editor', WORKSPACE_WRITE],
        selection,
        async ({ started, workspaceId }) => ({
          ...input,
          uploadSession: await started(workspaceId),
        }),
        {
          ...upload,
          ...inWs,
          ...isPart,
          stranger: 'UPLOAD_NOT_FOUND',
        },
      ),
    ]
  }),
  mutation(
    'completeUpload { folder }',
    ['owner of it', READ],
    'folder { id }',
    async ({ started }) => ({ uploadSession: await started() }),
    {
      ...upload,
      at: 'completeUpload.folder',
    },
  ),
]

const direct = { access: 'sharer or recipient', stranger: 'FORBIDDEN' } as const

const onShares: GraphRow[] = [
  mutation(
    'createLink',
    ['owner of it', SHARE],
    'share { id }',
    async ({ upload }) => ({ entries: byPath(await upload()) }),
    {
      stranger: 'FILE_NOT_FOUND',
    },
  ),
  mutation(
    'createLink (by id)',
    ['owner of it', SHARE],
    'share { id }',
    async ({ upload }) => ({ entries: { id: (await upload()).id } }),
    file,
  ),
  ...[
    ...['file { id }', 'entry { id }', 'entries { id }', 'viewer { id }'],
    ...['share { file { id } }', 'share { entry { id } }', 'share { entries { id } }'],
  ].map(field =>
    mutation(
      `createLink { ${field.replace(' { id }', '')} }`,
      ['owner of it', READ],
      field,
      async ({ upload }) => ({ entries: byPath(await upload()) }),
      {
        stranger: 'FILE_NOT_FOUND',
        at: `createLink.${field.replace(/^(share) \{ (\w+) .*/, '$1.$2').replace(/ .*/, '')}`,
      },
    ),
  ),
  mutation(
    'createLink (of several)',
    ['owner of it', SHARE],
    'share { id }',
    async ({ name, upload }) => ({
      entries: [byPath(await upload()), byPath(await upload(`${name} too`))],
    }),
    { stranger: 'FILE_NOT_FOUND' },
  ),
  mutation(
    'createLink (of a workspace)',
    ['editor', null],
    'share { id }',
    async ({ putFile }) => ({ entries: { id: await putFile() } }),
    { ...file, ...inWs, looks: true },
  ),
  mutation(
    'createDirectShare (of a workspace)',
    ['editor', null],
    'shares { id }',
    async ({ name, putFile }) => ({
      email: `${name}@example.com`,
      entries: [{ id: await putFile() }],
    }),
    { ...file, ...inWs, looks: true },
  ),
  mutation(
    'createDirectShare',
    ['owner of it', SHARE],
    'shares { id }',
    async ({ name, upload }) => ({
      email: `${name}@example.com`,
      entries: [byPath(await upload())],
    }),
    {
      stranger: 'FILE_NOT_FOUND',
    },
  ),
  mutation(
    'createDirectShare (together)',
    ['owner of it', SHARE],
    'shares { id }',
    async ({ name, upload }) => ({
      email: `${name}@example.com`,
      together: true,
      entries: [byPath(await upload()), byPath(await upload(`${name} too`))],
    }),
    { stranger: 'FILE_NOT_FOUND' },
  ),
  mutation(
    'createDirectShare { viewer, entries, shares { file } }',
    ['owner of it', READ],
    'viewer { id } entries { id } shares { file { id } entry { id } }',
    async ({ name, upload }) => ({
      email: `${name}@example.com`,
      entries: [byPath(await upload())],
    }),
    {
      stranger: 'FILE_NOT_FOUND',
      at: 'createDirectShare.viewer',
    },
  ),
  mutation(
    'revokeShare',
    ['owner of it', SHARE],
    'revokedId',
    async ({ share }) => ({ share: { token: await share() } }),
    {
      stranger: 'FORBIDDEN',
    },
  ),
  mutation(
    'revokeShare { file, entry, entries, viewer }',
    ['owner of it', READ],
    'file { id } entry { id } entries { id } viewer { id }',
    async ({ share }) => ({ share: { token: await share() } }),
    {
      stranger: 'FORBIDDEN',
      at: 'revokeShare.viewer',
    },
  ),
  mutation('revokeShares', ['signed-in', SHARE], 'revokedIds', () => ({ shares: [] })),
  mutation(
    'revokeShares { viewer }',
    ['signed-in', READ],
    'viewer { id }',
    () => ({ shares: [] }),
    { at: 'revokeShares.viewer' },
  ),
  mutation(
    'endAccess',
    ['session', null],
    'revokedIds removedCount access { email } viewer { id }',
    ({ name }) => ({
      email: `${name}@example.com`,
    }),
  ),
  mutation(
    'updateShare',
    ['owner of it', SHARE],
    'share { id }',
    async ({ share, name }) => ({ share: { token: await share() }, label: name }),
    {
      stranger: 'FORBIDDEN',
    },
  ),
  mutation(
    'updateShare { entry, entries, viewer }',
    ['owner of it', READ],
    'entry { id } entries { id } viewer { id }',
    async ({ share }) => ({ share: { token: await share() }, notifies: true }),
    {
      stranger: 'FORBIDDEN',
      at: 'updateShare.viewer',
    },
  ),
  mutation('createFileRequest', ['signed-in', SHARE], 'fileRequest { id }', ({ name }) => ({
    label: name,
    folder: { at: { path: '' } },
  })),
  mutation(
    'createFileRequest (of a workspace)',
    ['editor', WORKSPACE_WRITE],
    'fileRequest { id }',
    async things => ({
      label: things.name,
      folder: { at: { path: '', drive: await drives.ofWorkspace(things) } },
    }),
    { ...drive, ...inWs },
  ),
  mutation(
    'cancelCopy',
    ['owner of it', WRITE],
    'copy { id }',
    async ({ copy }) => ({ copy: await copy() }),
    {
      unknown: 'COPY_NOT_FOUND',
    },
  ),
  mutation(
    'cancelCopy (of a workspace)',
    ['owner of it', WORKSPACE_WRITE],
    'copy { id }',
    async ({ copy, workspaceId }) => ({ copy: await copy(workspaceId) }),
    { unknown: 'COPY_NOT_FOUND', ...inWs },
  ),
  ...['updateFileRequest', 'closeFileRequest'].flatMap(name => [
    mutation(
      name,
      ['owner of it', SHARE],
      'fileRequest { id }',
      async ({ fileRequest }) => ({ fileRequest: (await fileRequest()).id }),
      { unknown: 'FILE_REQUEST_NOT_FOUND' },
    ),
    mutation(
      `${name} (of a workspace)`,
      ['editor', WORKSPACE_WRITE],
      'fileRequest { id }',
      async ({ fileRequest, workspaceId }) => ({
        fileRequest: (await fileRequest(workspaceId)).id,
      }),
      { unknown: 'FILE_REQUEST_NOT_FOUND', stranger: 'FILE_REQUEST_NOT_FOUND', ...inWs },
    ),
  ]),
  mutation('openShare', ['public', null], 'download { url }', async ({ share }) => ({
    token: await share(),
  })),
  mutation(
    'openShare (a direct share)',
    [direct.access, READ],
    'download { url }',
    async ({ shareDirectly }) => ({ token: await shareDirectly() }),
    direct,
  ),
  mutation(
    'markShareSeen',
    ['recipient', WRITE],
    'seenId',
    async ({ shareDirectly }) => ({ share: { token: await shareDirectly() } }),
    {
      stranger: 'SHARE_NOT_FOUND',
    },
  ),
  mutation(
    'markShareSeen { share, viewer }',
    ['recipient', READ],
    'share { id } viewer { id }',
    async ({ shareDirectly }) => ({ share: { token: await shareDirectly() } }),
    {
      under: { access: 'recipient', scope: 'private_files:*', stranger: 'SHARE_NOT_FOUND' },
      at: 'markShareSeen.share',
    },
  ),
]

const byMember = (things: Things, { userId }: Person) => ({
  member: `member:${things.workspaceId}:${userId}`,
})
const byInvite: Variables = async ({ inviteSomebody }) => ({ invite: await inviteSomebody() })

const onWorkspaces: GraphRow[] = [
  mutation('createWorkspace', SESSION, 'workspace { id } viewer { id }', ({ name }) => ({ name })),
  mutation(
    'updateWorkspace',
    ['owner', 'workspaces:write'],
    'workspace { id }',
    ({ workspaceId, name }) => ({ workspace: workspaceId, name }),
    inWs,
  ),
  mutation(
    'deleteWorkspace',
    ['owner', 'workspaces:delete'],
    'deletedId',
    ({ workspaceId }) => ({ workspace: workspaceId }),
    {
      ...inWs,
      consumes: true,
    },
  ),
  mutation(
    'deleteWorkspace { viewer }',
    SESSION,
    'viewer { id }',
    ({ workspaceId }) => ({ workspace: workspaceId }),
    {
      under: { access: 'owner', scope: 'workspaces:delete', names: 'workspace' },
      at: 'deleteWorkspace.viewer',
      consumes: true,
    },
  ),
  mutation(
    'changeMemberRole',
    ['admin', MEMBERS],
    'member { id }',
    async things => ({ ...byMember(things, await things.member('viewer')), role: 'EDITOR' }),
    inWs,
  ),
  mutation(
    'changeMemberRole { workspace }',
    ['admin', 'workspaces:read'],
    'workspace { id }',
    async things => ({ ...byMember(things, await things.member('viewer')), role: 'EDITOR' }),
    {
      ...inWs,
      at: 'changeMemberRole.workspace',
    },
  ),
  mutation(
    'changeMemberRole { member { person, joinedAt } }',
    ['admin', 'workspaces:members:read'],
    'member { person { id } joinedAt }',
    async things => ({ ...byMember(things, await things.member('viewer')), role: 'EDITOR' }),
    {
      ...inWs,
      at: 'changeMemberRole.member',
    },
  ),
  mutation(
    'removeMember',
    ['admin', MEMBERS],
    'removedId',
    async things => byMember(things, await things.member('viewer')),
    inWs,
  ),
  mutation(
    'removeMember { workspace }',
    ['admin', 'workspaces:read'],
    'workspace { id }',
    async things => byMember(things, await things.member('viewer')),
    {
      ...inWs,
      at: 'removeMember.workspace',
    },
  ),
  mutation(
    'removeMember { viewer }',
    ['session admin', null],
    'viewer { id }',
    async things => byMember(things, await things.member('viewer')),
    {
      ...inWs,
      under: { access: 'admin', scope: MEMBERS, names: 'workspace' },
      at: 'removeMember.viewer',
    },
  ),
  mutation(
    'removeMember (oneself)',
    ['viewer', MEMBERS],
    'removedId',
    async (things, caller) => {
      // The member who leaves must not be the last owner.
      await things.member('owner')
      return byMember(things, caller.userId ? caller : things.owner)
    },
    { ...inWs, consumes: true },
  ),
  mutation(
    'createInvite',
    ['admin', INVITES],
    'invite { id }',
    ({ workspaceId, name }) => ({
      workspace: workspaceId,
      email: `${name}@example.com`,
      role: 'VIEWER',
    }),
    inWs,
  ),
  ...['workspace { id }', 'invite { workspace { id } }'].map(field =>
    mutation(
      `createInvite { ${field.replace(' { id }', '')} }`,
      ['admin', 'workspaces:read'],
      field,
      ({ workspaceId, name }) => ({
        workspace: workspaceId,
        email: `${name}@example.com`,
        role: 'VIEWER',
      }),
      {
        ...inWs,
        at: `createInvite.${field.startsWith('invite') ? 'invite.workspace' : 'workspace'}`,
      },
    ),
  ),
  mutation('revokeInvite', ['admin', INVITES], 'revokedId', byInvite, {
    ...inWs,
    unknown: 'INVITE_NOT_FOUND',
  }),
  mutation(
    'revokeInvite { workspace }',
    ['admin', 'workspaces:read'],
    'workspace { id }',
    byInvite,
    {
      ...inWs,
      unknown: 'INVITE_NOT_FOUND',
      at: 'revokeInvite.workspace',
    },
  ),
  ...['acceptInvite', 'rejectInvite'].map(name =>
    mutation(
      name,
      ['session invitee', null],
      'viewer { id }',
      async ({ invited }) => ({ token: (await invited()).token }),
      {
        stranger: 'INVITE_NOT_FOR_YOU',
      },
    ),
  ),
]

const onWebhooks: GraphRow[] = [
  mutation('createWebhook', SESSION, 'webhook { id } viewer { id }', () => ({
    url: NOWHERE,
    source: 'PERSON',
    kinds: ['OPERATOR_DISMISSED'],
  })),
  mutation(
    'createWebhook (of a workspace)',
    ['session admin', null],
    'webhook { id } workspace { id }',
    ({ workspaceId }) => ({ url: NOWHERE, workspace: workspaceId, kinds: ['WORKSPACE_RENAMED'] }),
    inWs,
  ),
  ...(
    [
      'updateWebhook',
      'rotateWebhookSecret',
      'pingWebhook',
      'redeliverEvent',
      'deleteWebhook',
    ] as const
  ).flatMap(name =>
    (['person', 'workspace'] as const).map(of => {
      const field = of === 'person' ? 'viewer' : 'workspace'
      return mutation(
        of === 'person' ? name : `${name} (of a workspace)`,
        [of === 'person' ? 'session owner of it' : 'session admin', null],
        `${name === 'deleteWebhook' ? 'deletedId' : 'webhook { id }'} ${field} { id }`,
        async ({ webhook }) => {
          const { event, ...it } = await webhook(of)
          return name === 'redeliverEvent' ? { ...it, event } : it
        },
        of === 'person'
          ? { stranger: 'WEBHOOK_NOT_FOUND' }
          : { ...inWs, unknown: 'WEBHOOK_NOT_FOUND' },
      )
    }),
  ),
]

const onAccounts: GraphRow[] = [
  mutation('createApiKey', SESSION, 'secret viewer { id }', ({ name }) => ({
    name,
    scopes: ['PRIVATE_FILES_READ'],
  })),
  mutation(
    'createApiKey (of a workspace)',
    ['session admin', null],
    'secret workspace { id }',
    ({ name, workspaceId }) => ({ name, workspace: workspaceId, scopes: ['WORKSPACES_READ'] }),
    inWs,
  ),
  mutation(
    'deleteApiKey',
    ['session owner of it', null],
    'deletedId viewer { id }',
    async ({ ownKey }) => ({ apiKey: await ownKey() }),
    {
      stranger: 'API_KEY_NOT_FOUND',
    },
  ),
  mutation(
    'deleteApiKey (of a workspace)',
    ['session admin', null],
    'deletedId workspace { id }',
    async ({ keyOfWorkspace }) => ({ apiKey: await keyOfWorkspace() }),
    {
      ...inWs,
      unknown: 'API_KEY_NOT_FOUND',
    },
  ),
  mutation('approveLogin', SESSION, 'redirectUrl viewer { id }', ({ name }) => ({
    clientId: 'program',
    clientName: name,
    redirectUri: 'http://127.0.0.1:8000/',
    scopes: ['PRIVATE_FILES_READ'],
    codeChallenge: 'x'.repeat(43),
  })),
  mutation(
    'approveDeviceLogin',
    SESSION,
    'loginRequest { userCode } viewer { id }',
    async things => ({
      userCode: await things.userCode(),
    }),
  ),
  mutation(
    'refuseDeviceLogin',
    SESSION,
    'loginRequest { userCode } viewer { id }',
    async things => ({
      userCode: await things.userCode(),
    }),
  ),
  mutation(
    'endSession',
    ['session owner of it', null],
    'endedId viewer { id }',
    async ({ anotherSession }) => ({ session: await anotherSession() }),
    {
      stranger: 'SESSION_NOT_FOUND',
    },
  ),
  query(
    'endOtherSessions',
    SESSION,
    'mutation { endOtherSessions { count viewer { id } } }',
    'endOtherSessions',
  ),
  mutation('setFilesView', ['signed-in', WRITE], 'viewer { id }', () => ({
    layout: 'TILES',
    tileSize: 'LARGE',
    sort: 'SIZE',
    direction: 'DESC',
  })),
  mutation('setSignInNotices', SESSION, 'viewer { id }', () => ({ enabled: false })),
  mutation(
    'removeIdentity',
    ['session owner of it', null],
    'removedId viewer { id }',
    async ({ identity }) => ({ identity: await identity() }),
    {
      stranger: 'IDENTITY_NOT_FOUND',
    },
  ),
  mutation('deleteAccount', SESSION, 'deletedId', () => ({ deleteUserData: true }), {
    consumes: true,
  }),
  mutation('operatorUpdateAccount', OPERATOR, 'account { id }', async ({ newcomer }) => ({
    account: `account:${(await newcomer()).userId}`,
    plan: 'developer',
    status: 'SUSPENDED',
  })),
  mutation('operatorDeleteAccount', OPERATOR, 'deletedId', async ({ newcomer }) => {
    const { userId, email } = await newcomer()
    return { account: `account:${userId}`, email, deleteFiles: true }
  }),
  mutation('operatorAppoint', OPERATOR, 'account { id }', async ({ newcomer }) => ({
    account: `account:${(await newcomer()).userId}`,
  })),
  mutation('operatorDismiss', OPERATOR, 'account { id }', async ({ operator }) => ({
    account: `account:${(await operator()).userId}`,
  })),
  mutation('operatorCreatePlan', OPERATOR, 'plan { plan { id } }', ({ newPlanId }) => ({
    id: newPlanId(),
    name: 'A plan',
  })),
  ...['operatorUpdatePlan', 'operatorRetirePlan', 'operatorRestorePlan'].map(name =>
    mutation(name, OPERATOR, 'plan { plan { id } }', async ({ somePlan }) => ({
      plan: await somePlan(),
    })),
  ),
  mutation('operatorSetDefaultPlan', OPERATOR, 'plan { plan { id } }', () => ({ plan: 'free' })),
  mutation('operatorDeletePlan', OPERATOR, 'deletedId', async ({ somePlan }) => ({
    plan: await somePlan(),
  })),
  mutation(
    'operatorSetWorkspaceLimits',
    OPERATOR,
    'workspaceId limits { name }',
    ({ workspaceId }) => ({
      workspace: workspaceId,
      limits: [{ name: 'MAX_WORKSPACE_FILES', unlimited: true }],
    }),
  ),
  query(
    'operatorStartMaintenance',
    OPERATOR,
    // Ended at once, because the other rows continue.
    'mutation ($input: OperatorStartMaintenanceInput!) { operatorStartMaintenance(input: $input) { maintenance { endsAt } } operatorEndMaintenance { ended } }',
    'operatorStartMaintenance',
    () => ({
      input: { until: new Date(Date.now() + 60_000).toISOString(), message: 'A larger disk' },
    }),
  ),
  query(
    'auditTrail',
    OPERATOR,
    '{ operator { auditTrail(first: 5) { nodes { kind via actor { id } operator { id } address details { path } } } } }',
    'operator.auditTrail',
  ),
  query(
    'operatorEndMaintenance',
    OPERATOR,
    'mutation { operatorEndMaintenance { ended } }',
    'operatorEndMaintenance',
  ),
  query(
    'operatorRetryMails',
    OPERATOR,
    'mutation { operatorRetryMails { count } }',
    'operatorRetryMails',
  ),
  query(
    'grants',
    OPERATOR,
    '{ operator { grants(first: 5) { nodes { kind name sharer { id } } } } }',
    'operator.grants',
  ),
  mutation('operatorEndGrants', OPERATOR, 'endedIds', () => ({ grants: [] })),
]

const subscriptions: GraphRow[] = [
  query(
    'driveChanged',
    ['signed-in', READ],
    'subscription { driveChanged { id } }',
    'driveChanged',
  ),
  query(
    'driveChanged (of a workspace)',
    ['viewer', WORKSPACE_READ],
    'subscription ($drive: ID) { driveChanged(drive: $drive) { id } }',
    'driveChanged',
    async things => ({ drive: await drives.ofWorkspace(things) }),
    {
      ...drive,
      ...inWs,
    },
  ),
  query('driveEvents', ['signed-in', READ], 'subscription { driveEvents { id } }', 'driveEvents'),
  query(
    'driveEvents (of a workspace)',
    ['viewer', WORKSPACE_READ],
    'subscription ($drive: ID) { driveEvents(drive: $drive) { id } }',
    'driveEvents',
    async things => ({ drive: await drives.ofWorkspace(things) }),
    {
      ...drive,
      ...inWs,
    },
  ),
  query('viewerEvents', SESSION, 'subscription { viewerEvents { id } }', 'viewerEvents'),
  query(
    'shareReceived',
    ['signed-in', READ],
    'subscription { shareReceived { id } }',
    'shareReceived',
  ),
  query('inviteReceived', SESSION, 'subscription { inviteReceived { id } }', 'inviteReceived'),
]

/** Every field that has a rule of its own, with an operation that selects it. */
export const graphRows: GraphRow[] = [
  ...queries,
  ...onFiles,
  ...onShares,
  ...onWorkspaces,
  ...onAccounts,
  ...onWebhooks,
  ...subscriptions,
]
