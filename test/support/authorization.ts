import { type Role, roles } from '../../src/access/roles.ts'
import { clamp } from '../../src/http/envelope.ts'
import { type ErrorCode, naturalStatus } from '../../src/runtime/errors.ts'
import {
  additions,
  type ContractAddition,
  type ContractOperation,
  operations,
  titleOf,
} from '../contract/contract.ts'

/** The permission rule of one row of the table, in the words of the contract data. */
export interface Rule {
  title: string
  access: string
  /**
   * The scope that a key needs. A star at the end matches any scope of this kind. Null if no key is
   * allowed.
   */
  scope: string | null
  /** The error code for a caller who does not own the target. */
  stranger?: ErrorCode
  /** The request names the workspace. */
  names?: 'workspace'
  /**
   * The target is looked up first, and a caller without access gets this error code, whatever the
   * scopes of the credential.
   */
  unknown?: ErrorCode | 'null'
  /** A caller with a weak role, or who is not an operator, gets an empty result. */
  hides?: true
  /** The target is looked up before the key is checked, although no key is allowed. */
  looks?: true
  /**
   * Keys that are accepted but see nothing: all keys, all workspace keys, or all keys except those
   * of the workspace.
   */
  blind?: 'keys' | 'workspace keys' | 'keys of others'
  /** The rule of the parent field. */
  under?: Pick<Rule, 'access' | 'scope' | 'names' | 'stranger'>
  /** Removes its caller, its caller's membership, or the whole workspace. */
  consumes?: true
}

/** An operation of the contract and its target: one row of the table. */
export interface Row extends Rule {
  /** The name in the contract data: `Query.x` or `Mutation.x`. */
  field: string
  /** The route of the operation. */
  rest: Pick<ContractOperation, 'method' | 'path' | 'statuses' | 'in'>
}

/** A user with a credential: one column of the table. */
export interface Identity {
  title: string
  via: 'nothing' | 'session' | 'private key' | 'workspace key'
  /** The credential is invalid: it is expired or wrong, or its user is suspended. */
  dead?: true
  /** The relation of the user to the personal entries of the target. */
  who: 'owner' | 'recipient' | 'stranger'
  /** The role in the target workspace at the time of the call. */
  role: Role | null
  /** The key has every scope of its kind except the required one. */
  lacks?: true
  /** The key belongs to another workspace. */
  elsewhere?: true
  /** The user was appointed as an operator by another operator. */
  operator?: true
  /** The key has only the read scopes. */
  readOnly?: true
  /** The private key is that of an app, which reaches the files of workspaces. */
  reaches?: true
}

const person = { via: 'session', who: 'stranger', role: null } as const
const privateKey = { via: 'private key', who: 'owner', role: 'owner' } as const
const workspaceKey = { via: 'workspace key', who: 'owner', role: 'owner' } as const

const people: Identity[] = [
  { title: 'nobody', via: 'nothing', who: 'stranger', role: null },
  { title: 'owner', ...person, who: 'owner', role: 'owner' },
  { title: 'admin', ...person, role: 'admin' },
  { title: 'editor', ...person, role: 'editor' },
  { title: 'viewer', ...person, role: 'viewer' },
  { title: 'former member', ...person },
  { title: 'recipient, invitee', ...person, who: 'recipient' },
  { title: 'somebody else', ...person },
  { title: 'operator', ...person, operator: true },
]

const keys: Identity[] = [
  { title: 'private key', ...privateKey },
  { title: 'private key without the scope', ...privateKey, lacks: true },
  { title: 'private key of somebody else', ...privateKey, who: 'stranger', role: null },
  { title: 'workspace key', ...workspaceKey },
  { title: 'workspace key without the scope', ...workspaceKey, lacks: true },
  { title: 'key of another workspace', ...workspaceKey, elsewhere: true },
  {
    title: 'key of an admin who is a viewer now',
    ...workspaceKey,
    who: 'stranger',
    role: 'viewer',
  },
  { title: 'key of an admin who was removed', ...workspaceKey, who: 'stranger', role: null },
]

const over: Identity[] = [
  { title: 'expired session', ...person, who: 'owner', role: 'owner', dead: true },
  { title: 'ended session', ...person, who: 'owner', role: 'owner', dead: true },
  { title: 'session of a suspended owner', ...person, role: 'owner', dead: true },
  { title: 'expired private key', ...privateKey, dead: true },
  { title: 'expired workspace key', ...workspaceKey, dead: true },
  { title: 'deleted private key', ...privateKey, dead: true },
  { title: 'deleted workspace key', ...workspaceKey, dead: true },
  { title: 'private key of a suspended user', ...privateKey, who: 'stranger', dead: true },
  { title: 'workspace key of a suspended owner', ...workspaceKey, who: 'stranger', dead: true },
  { title: 'wrong key beside the cookie of the owner', ...privateKey, dead: true },
]

/** Columns, by the title of their table. */
export type IdentityGroups = Record<string, Identity[]>

export const identityGroups: IdentityGroups = {
  'People, with a session': people,
  'API keys': keys,
  'What counts as nobody': over,
}
export const identities = Object.values(identityGroups).flat()

/** The columns of WebDAV, where people have keys. */
export const davGroups: IdentityGroups = {
  'API keys': [
    ...keys,
    {
      title: 'key of an admin who is an editor now',
      ...workspaceKey,
      who: 'stranger',
      role: 'editor',
    },
    { title: 'read-only workspace key', ...workspaceKey, readOnly: true },
    { title: 'read-only private key', ...privateKey, readOnly: true },
    { title: 'private key of the recipient', ...privateKey, who: 'recipient', role: null },
    {
      title: 'read-only private key of the recipient',
      ...privateKey,
      who: 'recipient',
      role: null,
      readOnly: true,
    },
  ],
  'What counts as nobody': [
    { title: 'nobody', ...person, via: 'nothing' },
    { title: 'owner', ...person, who: 'owner', role: 'owner' },
    ...over,
  ],
}

/** The columns of the protocol of the apps of Nextcloud and ownCloud. */
export const appGroups: IdentityGroups = {
  'Keys of apps': [
    { title: 'key of an app', ...privateKey, reaches: true },
    { title: 'key of an app without the scope', ...privateKey, reaches: true, lacks: true },
    { title: 'read-only key of an app', ...privateKey, reaches: true, readOnly: true },
    {
      title: 'key of an app of an editor',
      ...privateKey,
      who: 'stranger',
      role: 'editor',
      reaches: true,
    },
    {
      title: 'key of an app of a viewer',
      ...privateKey,
      who: 'stranger',
      role: 'viewer',
      reaches: true,
    },
    {
      title: 'key of an app of a former member',
      ...privateKey,
      who: 'stranger',
      role: null,
      reaches: true,
    },
    {
      title: 'key of an app of the recipient',
      ...privateKey,
      who: 'recipient',
      role: null,
      reaches: true,
    },
    { title: 'deleted key of an app', ...privateKey, reaches: true, dead: true },
  ],
  ...davGroups,
}

export function identityOf(title: string): Identity {
  const known = identities.find(identity => identity.title === title)
  if (!known) throw new Error(`Nobody is ${title}.`)
  return known
}

/** The caller for whom a row succeeds. */
export const rightfulOf = ({ access }: Rule): Identity =>
  identityOf(
    access === 'operator'
      ? access
      : /recipient|invitee/.test(access)
        ? 'recipient, invitee'
        : 'owner',
  )

/**
 * The error codes for operations whose target belongs to someone else. Other operations have no
 * target, or one in a workspace.
 */
const strangers: Record<string, ErrorCode> = {
  'Mutation.acceptInvite': 'INVITE_NOT_FOR_YOU',
  'Mutation.createDownloadToken': 'FILE_NOT_FOUND',
  'Mutation.createEntriesShare': 'FILE_NOT_FOUND',
  'Mutation.createFolderShare': 'FOLDER_NOT_FOUND',
  'Mutation.createPublicShare': 'FILE_NOT_FOUND',
  'Mutation.deleteFile': 'FILE_NOT_FOUND',
  'Mutation.deleteFolder': 'FOLDER_NOT_FOUND',
  'Mutation.endSession': 'SESSION_NOT_FOUND',
  'Mutation.deletePrivateApiKey': 'API_KEY_NOT_FOUND',
  'Mutation.markShareSeen': 'SHARE_NOT_FOUND',
  'Mutation.uploadSharedFile': 'SHARE_NOT_FOUND',
  'Mutation.createSharedFolder': 'SHARE_NOT_FOUND',
  'Mutation.moveSharedEntry': 'SHARE_NOT_FOUND',
  'Mutation.deleteSharedEntry': 'SHARE_NOT_FOUND',
  'Mutation.moveFile': 'FILE_NOT_FOUND',
  'Mutation.moveFolder': 'FOLDER_NOT_FOUND',
  'Mutation.rejectInvite': 'INVITE_NOT_FOR_YOU',
  'Mutation.removeIdentity': 'IDENTITY_NOT_FOUND',
  'Mutation.restoreTrash': 'TRASH_ITEM_NOT_FOUND',
  'Mutation.deleteFromTrash': 'TRASH_ITEM_NOT_FOUND',
  'Mutation.tagEntries': 'FILE_NOT_FOUND',
  'Mutation.addFavourite': 'FILE_NOT_FOUND',
  'Mutation.moveFavourite': 'FAVOURITE_NOT_FOUND',
  'Mutation.removeFavourite': 'FAVOURITE_NOT_FOUND',
  'Mutation.updateTag': 'TAG_NOT_FOUND',
  'Mutation.deleteTag': 'TAG_NOT_FOUND',
  'Query.taggedEntries': 'TAG_NOT_FOUND',
  'Mutation.zipFiles': 'FILE_NOT_FOUND',
  'Query.fileInfo': 'FILE_NOT_FOUND',
  'Query.filePreview': 'FILE_NOT_FOUND',
  'Query.versions': 'FILE_NOT_FOUND',
  'Query.versionDownload': 'VERSION_NOT_FOUND',
  'Mutation.restoreVersion': 'VERSION_NOT_FOUND',
  'Mutation.deleteVersion': 'VERSION_NOT_FOUND',
  'Mutation.revokeShare': 'FORBIDDEN',
  'Mutation.updateShare': 'FORBIDDEN',
  'Mutation.shareFiles': 'FILE_NOT_FOUND',
  'Mutation.copyEntries': 'FILE_NOT_FOUND',
  'Mutation.cancelCopy': 'COPY_NOT_FOUND',
  'Query.copy': 'COPY_NOT_FOUND',
  'Mutation.cancelWorkspaceCopy': 'COPY_NOT_FOUND',
  'Query.workspaceCopy': 'COPY_NOT_FOUND',
  'Mutation.writeFileNote': 'FILE_NOT_FOUND',
  // A multipart upload belongs to its creator, whatever the role of others in the workspace.
  'Mutation.abortUpload': 'UPLOAD_NOT_FOUND',
  'Mutation.abortWorkspaceUpload': 'UPLOAD_NOT_FOUND',
  'Mutation.completeUpload': 'UPLOAD_NOT_FOUND',
  'Mutation.completeWorkspaceUpload': 'UPLOAD_NOT_FOUND',
  'Mutation.uploadPart': 'UPLOAD_NOT_FOUND',
  'Mutation.uploadWorkspacePart': 'UPLOAD_NOT_FOUND',
  'Query.upload': 'UPLOAD_NOT_FOUND',
  'Query.uploadCompletion': 'UPLOAD_NOT_FOUND',
  'Query.workspaceUploadCompletion': 'UPLOAD_NOT_FOUND',
  'Query.workspaceUpload': 'UPLOAD_NOT_FOUND',
  // A file request belongs to its creator, whatever the role of others in the workspace.
  'Mutation.updateFileRequest': 'FILE_REQUEST_NOT_FOUND',
  'Mutation.closeFileRequest': 'FILE_REQUEST_NOT_FOUND',
  'Mutation.updateWorkspaceFileRequest': 'FILE_REQUEST_NOT_FOUND',
  'Mutation.closeWorkspaceFileRequest': 'FILE_REQUEST_NOT_FOUND',
  'Query.fileNote': 'FILE_NOT_FOUND',
  'Query.privateDownload': 'FORBIDDEN',
}

const consumers = ['Mutation.deleteAccount', 'Mutation.deleteWorkspace']

type Served = Omit<ContractOperation, 'table'>

const rowOf = (operation: Served): Row => {
  const { field, access, scope, ...rest } = operation
  const stranger = strangers[field]
  return {
    title: titleOf(operation),
    field,
    access,
    scope,
    rest,
    ...(stranger ? { stranger } : {}),
    ...(namesWorkspace(rest) ? { names: 'workspace' as const } : {}),
    ...(consumers.includes(field) ? { consumes: true } : {}),
  }
}

const rowAt = (title: string): Row => {
  const operation = [...operations, ...fieldsOf(additions)].find(o => titleOf(o) === title)
  if (!operation) throw new Error(`The contract has no ${title}.`)
  return rowOf(operation)
}

/** The additions of the contract that are fields of the schema. Sign-in has its own tests. */
const fieldsOf = (list: ContractAddition[]): Served[] =>
  list.flatMap(({ field, ...addition }) => (field === undefined ? [] : [{ ...addition, field }]))

/**
 * A direct share works only for its sharer and its recipient, however it is opened: contract,
 * section 3.
 */
const direct = {
  access: 'sharer or recipient',
  scope: 'private_files:read',
  stranger: 'FORBIDDEN',
} as const

/** Operations that the data of the contract's tables A and B omits. */
const others: Row[] = [
  {
    ...rowAt('GET /api/d/{token}'),
    title: 'GET /api/d/{token} (a direct share)',
    ...direct,
  },
  {
    ...rowAt('POST /api/share/resolve/{token}'),
    title: 'POST /api/share/resolve/{token} (a direct share)',
    ...direct,
  },
  {
    ...rowAt('GET /api/share/entries/{token}'),
    title: 'GET /api/share/entries/{token} (a direct share)',
    ...direct,
  },
  {
    ...rowAt('POST /api/share/save/{token}'),
    title: 'POST /api/share/save/{token} (a direct share)',
    ...direct,
  },
  {
    ...rowAt('POST /api/copies'),
    title: 'POST /api/copies (what is read)',
    scope: 'private_files:read',
  },
  ...['workspaces:files:write', 'workspaces:files:read'].map(scope => {
    const { stranger: _stranger, ...row } = rowAt('POST /api/copies')
    const title = `${row.title} (in a workspace${scope.endsWith('read') ? ', what is read' : ''})`
    return { ...row, title, scope, access: 'editor', names: 'workspace' as const }
  }),
  {
    ...rowAt('DELETE /api/workspaces/members/remove'),
    title: 'DELETE /api/workspaces/members/remove (oneself)',
    access: 'viewer',
    consumes: true,
  },
]

/** Every operation of the contract, including those that its data omits. */
export const rows: Row[] = [...operations, ...fieldsOf(additions)]
  .map(rowOf)
  .concat(others)
  .sort((a, b) => a.title.localeCompare(b.title, 'en'))

/** Whether the request names the workspace. */
function namesWorkspace(rest: Row['rest']): boolean {
  return Object.values(rest.in ?? {}).some(names => names?.includes('workspace_id'))
}

/** The outcome of a call: `yes`, the code of its refusal, or `null` if the caller sees nothing. */
export type Outcome = 'yes' | 'null' | ErrorCode

/**
 * The outcome of a call according to the contract. It depends only on the row and the column, not
 * on the service.
 */
export function expected(rule: Omit<Rule, 'title'>, identity: Identity): Outcome {
  const { access, scope, stranger, names, unknown, looks, hides, under } = rule
  const { via, dead, who, role, lacks, elsewhere } = identity
  if (access === 'public') return 'yes'
  if (via === 'nothing' || dead) return 'UNAUTHENTICATED'
  if (isBlind(rule, identity)) return 'null'
  const before = under ? expected(under, identity) : 'yes'
  if (before !== 'yes') return before
  const least = roles.find(r => access.replace(/^session /, '').split(' or ')[0] === r)
  const mine = /recipient|invitee/.test(access)
    ? who === 'recipient' || (who === 'owner' && access.includes('sharer'))
    : who === 'owner'
  const mayAsk = via === 'session' || scope !== null || looks
  if (unknown && mayAsk && !(least ? role : mine)) return unknown
  if (via !== 'session') {
    const kind =
      scope === null ? 'none' : scope.startsWith('private_files:') ? 'private key' : 'workspace key'
    if (via !== kind) return 'KEY_OUT_OF_BOUNDS'
    if (lacks && !scope?.endsWith('*')) return 'INSUFFICIENT_SCOPE'
    if (elsewhere && names) return 'KEY_OUT_OF_BOUNDS'
  }
  if (access === 'operator' && !identity.operator) return hides ? 'null' : 'FORBIDDEN'
  if (least && !role) return 'FORBIDDEN'
  if (least && role && roles.indexOf(role) > roles.indexOf(least))
    return hides ? 'null' : 'FORBIDDEN'
  return stranger && !mine ? stranger : 'yes'
}

function isBlind({ blind }: Pick<Rule, 'blind'>, { via, elsewhere }: Identity): boolean {
  if (via === 'session' || !blind) return false
  if (blind === 'workspace keys') return via === 'workspace key'
  return blind === 'keys' || via === 'private key' || elsewhere === true
}

/** The table cell for a REST outcome, with its status. */
export function cell({ rest }: Row, outcome: Outcome): string {
  if (outcome === 'yes' || outcome === 'null') return outcome
  return `${clamp(naturalStatus[outcome], outcome, rest.statuses)} ${outcome}`
}

/**
 * The observed outcomes of one interface: its columns, and the outcomes of each row in the same
 * order.
 */
export interface Met {
  groups: IdentityGroups
  outcomes: Map<Rule, string[]>
}

/**
 * Prints the table for readers.
 * @param faces by name
 */
export function printed(faces: Record<string, Met>): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  const tables = Object.entries(faces).flatMap(([face, { groups, outcomes }]) => {
    let from = 0
    return Object.entries(groups).map(([title, group]) => {
      const [start, end] = [from, from + group.length]
      from = end
      return [
        `## ${face}: ${title.replace(/^[A-Z](?![A-Z])/, first => first.toLowerCase())}`,
        '',
        line(['', ...group.map(identity => identity.title)]),
        line(['---', ...group.map(() => '---')]),
        ...Array.from(outcomes, ([row, cells]) => line([row.title, ...cells.slice(start, end)])),
      ].join('\n')
    })
  })
  return `${[heading, ...tables].join('\n\n')}\n`
}

const heading = `# Who may do what

Every operation by every caller, as the tests have met it: \`yes\`, the code of the refusal, by REST with its status, or \`null\` where
GraphQL shows nothing. The rule that says what is expected is in \`authorization.ts\`, the operations of the graph are in
\`authorization-graph.ts\`, the requests of WebDAV with a rule of their own in \`authorization-dav.ts\`. Written by \`npm run update\`, and compared by every other run.

The owner owns the files, shares, keys and the workspace that the operations name. The recipient is whom a file is shared with, and who is
invited. A private key and a workspace key are the owner's and have all scopes of their kind, where nothing else is said. Who waits for
something is let through when they are told of it. By WebDAV, a private key sees the files of whose it is and what was shared with them.`
