import { type Role, roles } from '../src/auth/roles.ts'
import { type ErrorCode, naturalStatus } from '../src/errors.ts'
import { clamp } from '../src/rest/envelope.ts'
import { additions, type ContractAddition, type ContractOperation, operations, titleOf } from './contract/contract.ts'

/** An operation, and whose thing it is aimed at: one row of the table. */
export interface Row {
  title: string
  /** `Query.x`, `Mutation.x` or `Subscription.x` */
  field: string
  /** Who may, in the words of the contract's data. */
  access: string
  scope: string | null
  /** What a caller is told whose thing it is not. */
  stranger?: ErrorCode
  /** How it is reached by REST; what has no route is GraphQL only. */
  rest?: Pick<ContractOperation, 'method' | 'path' | 'statuses' | 'in'>
  /** What it names, where no route says so. */
  names?: 'workspace'
  /** Ends its caller, its caller's membership, or the whole workspace. */
  consumes?: true
}

/** Somebody with a credential: one column of the table. */
export interface Identity {
  title: string
  via: 'nothing' | 'session' | 'private key' | 'workspace key'
  /** The credential counts as none: it is over, or wrong, or its user is suspended. */
  dead?: true
  /** To the personal things that the table aims at. */
  who: 'owner' | 'recipient' | 'stranger'
  /** In the workspace that the table aims at, at the moment of the call. */
  role: Role | null
  /** The key has every scope of its kind but the one that is asked for. */
  lacks?: true
  /** The key is of another workspace. */
  elsewhere?: true
  /** Another operator has appointed them. */
  operator?: true
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
  { title: 'key of an admin who is a viewer now', ...workspaceKey, who: 'stranger', role: 'viewer' },
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

/** The columns, in the tables in which they are printed. */
export const identityGroups = { 'People, with a session': people, 'API keys': keys, 'What counts as nobody': over }
export const identities = Object.values(identityGroups).flat()

export function identityOf(title: string): Identity {
  const known = identities.find(identity => identity.title === title)
  if (!known) throw new Error(`Nobody is ${title}.`)
  return known
}

/** For whom a row succeeds. */
export const rightfulOf = ({ access }: Row): Identity =>
  identityOf(access === 'operator' ? access : /recipient|invitee/.test(access) ? 'recipient, invitee' : 'owner')

/** What says whose the thing is that an operation names; the others name nothing, or something in a workspace. */
const strangers: Record<string, ErrorCode> = {
  'Mutation.acceptInvite': 'INVITE_NOT_FOR_YOU',
  'Mutation.createDownloadToken': 'FILE_NOT_FOUND',
  'Mutation.createPublicShare': 'FILE_NOT_FOUND',
  'Mutation.deleteFile': 'FILE_NOT_FOUND',
  'Mutation.deleteFolder': 'FOLDER_NOT_FOUND',
  'Mutation.endSession': 'SESSION_NOT_FOUND',
  'Mutation.deletePrivateApiKey': 'API_KEY_NOT_FOUND',
  'Mutation.markShareSeen': 'SHARE_NOT_FOUND',
  'Mutation.moveFile': 'FILE_NOT_FOUND',
  'Mutation.moveFolder': 'FOLDER_NOT_FOUND',
  'Mutation.rejectInvite': 'INVITE_NOT_FOR_YOU',
  'Mutation.removeIdentity': 'IDENTITY_NOT_FOUND',
  'Mutation.revokeShare': 'FORBIDDEN',
  'Mutation.shareFiles': 'FILE_NOT_FOUND',
  'Mutation.writeFileNote': 'FILE_NOT_FOUND',
  // An upload in parts is its maker's, whatever the role of others in the workspace.
  'Mutation.abortUpload': 'UPLOAD_NOT_FOUND',
  'Mutation.abortWorkspaceUpload': 'UPLOAD_NOT_FOUND',
  'Mutation.completeUpload': 'UPLOAD_NOT_FOUND',
  'Mutation.completeWorkspaceUpload': 'UPLOAD_NOT_FOUND',
  'Mutation.uploadPart': 'UPLOAD_NOT_FOUND',
  'Mutation.uploadWorkspacePart': 'UPLOAD_NOT_FOUND',
  'Query.upload': 'UPLOAD_NOT_FOUND',
  'Query.workspaceUpload': 'UPLOAD_NOT_FOUND',
  'Query.fileNote': 'FILE_NOT_FOUND',
  'Query.privateDownload': 'TOKEN_NOT_FOUND',
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
    ...(consumers.includes(field) ? { consumes: true } : {}),
  }
}

const rowAt = (title: string): Row => {
  const operation = operations.find(o => titleOf(o) === title)
  if (!operation) throw new Error(`The contract has no ${title}.`)
  return rowOf(operation)
}

/** Those additions of the contract that are fields of the schema. Signing in has its own tests. */
const fieldsOf = (list: ContractAddition[]): Served[] =>
  list.flatMap(({ field, ...addition }) => (field === undefined ? [] : [{ ...addition, field }]))

/** A direct share works for its two sides only, however it is opened: contract, section 3. */
const direct = { access: 'sharer or recipient', scope: 'private_files:read', stranger: 'FORBIDDEN' } as const

/** What the data of the contract's tables A and B leaves out. */
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
    ...rowAt('DELETE /api/workspaces/members/remove'),
    title: 'DELETE /api/workspaces/members/remove (oneself)',
    access: 'viewer',
    consumes: true,
  },
  // What somebody may not see is not there for them.
  { title: 'GraphQL node', field: 'Query.node', access: 'any credential', scope: 'private_files:read' },
  {
    title: 'GraphQL workspace',
    field: 'Query.workspace',
    access: 'viewer',
    scope: 'workspaces:read',
    names: 'workspace',
  },
  ...['file', 'folder', 'shares'].map(name => ({
    title: `GraphQL ${name}`,
    field: `Query.${name}`,
    access: 'signed-in',
    scope: 'private_files:read',
  })),
  // Operators have no REST: that is for users.
  ...[
    ...['account', 'accounts', 'mailQueue', 'operators', 'plans'].map(name => `Query.${name}`),
    ...['appointOperator', 'dismissOperator', 'restoreAccount', 'retryMails', 'setAccountPlan', 'suspendAccount'].map(
      name => `Mutation.${name}`,
    ),
  ].map(field => ({ title: `GraphQL ${field.replace(/.*\./, '')}`, field, access: 'operator', scope: null })),
  // Who may wait for something is who may look whether it has come.
  ...[
    ['shareReceived', 'GET /api/files/received'],
    ['inviteReceived', 'GET /api/workspaces/invites/mine'],
    ['bucketChanged', 'GET /api/user/bucket'],
    ['bucketChanged (a workspace)', 'GET /api/workspaces/{workspace_id}/quota'],
  ].map(([name = '', like = '']): Row => {
    const { access, scope, rest } = rowAt(like)
    return {
      title: `GraphQL subscription ${name}`,
      field: `Subscription.${name.replace(/ .*/, '')}`,
      access,
      scope,
      ...(namesWorkspace(rest) ? { names: 'workspace' } : {}),
    }
  }),
]

/** Every operation of the contract, and what its data leaves out. */
export const rows: Row[] = [...operations, ...fieldsOf(additions)]
  .map(rowOf)
  .concat(others)
  .sort((a, b) => a.title.localeCompare(b.title, 'en'))

/** Whether the caller says which workspace is meant. */
export function namesWorkspace(rest: Row['rest']): boolean {
  return Object.values(rest?.in ?? {}).some(names => names?.includes('workspace_id'))
}

/**
 * What the contract says of a call: `yes`, or the code of its refusal. Follows from the row and the column, and from nothing that the
 * service does.
 */
export function expected({ access, scope, stranger, rest, names }: Row, identity: Identity): 'yes' | ErrorCode {
  const { via, dead, who, role, lacks, elsewhere } = identity
  if (access === 'public') return 'yes'
  if (via === 'nothing' || dead) return 'UNAUTHENTICATED'
  if (access === 'any credential') return via === 'private key' && lacks ? 'INSUFFICIENT_SCOPE' : 'yes'
  if (via !== 'session') {
    const kind = scope === null ? 'none' : scope.startsWith('private_files:') ? 'private key' : 'workspace key'
    if (via !== kind) return 'KEY_OUT_OF_BOUNDS'
    if (lacks) return 'INSUFFICIENT_SCOPE'
    if (elsewhere && (names || namesWorkspace(rest))) return 'KEY_OUT_OF_BOUNDS'
  }
  if (access === 'operator') return identity.operator ? 'yes' : 'FORBIDDEN'
  const least = roles.find(r => access.replace(/^session /, '').split(' or ')[0] === r)
  if (least && !(role && roles.indexOf(role) <= roles.indexOf(least))) return 'FORBIDDEN'
  if (!stranger) return 'yes'
  const mine = /recipient|invitee/.test(access)
    ? who === 'recipient' || (who === 'owner' && access.includes('sharer'))
    : who === 'owner'
  return mine ? 'yes' : stranger
}

/** The cell of the table for an outcome: with the status that REST has for it. */
export function cell({ rest }: Row, outcome: 'yes' | ErrorCode): string {
  if (outcome === 'yes') return outcome
  return rest ? `${clamp(naturalStatus[outcome], outcome, rest.statuses)} ${outcome}` : outcome
}

/** The table for people to read. */
export function printed(outcomes: Map<Row, string[]>): string {
  const tables = Object.entries(identityGroups).map(([title, group]) => {
    const from = group[0] ? identities.indexOf(group[0]) : 0
    const line = (cells: string[]) => `| ${cells.join(' | ')} |`
    return [
      `## ${title}`,
      '',
      line(['', ...group.map(identity => identity.title)]),
      line(['---', ...group.map(() => '---')]),
      ...rows.map(row => line([row.title, ...(outcomes.get(row) ?? []).slice(from, from + group.length)])),
    ].join('\n')
  })
  return `${[heading, ...tables].join('\n\n')}\n`
}

const heading = `# Who may do what

Every operation by every caller, as the tests have met it by REST and by GraphQL: \`yes\`, or the refusal with its status by REST. The rule that
says what is expected is in \`authorization.ts\`. Written by \`UPDATE_AUTHORIZATION=1 npm test -- authorization\`, and compared by every other run.

The owner owns the files, shares, keys and the workspace that the operations name. The recipient is whom a file is shared with, and who is
invited. A private key and a workspace key are the owner's and have all scopes of their kind, where nothing else is said. Who waits for
something is let through when they are told of it.`
