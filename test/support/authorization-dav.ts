import { naturalStatus } from '../../src/runtime/errors.ts'
import type { Identity, Outcome, Rule } from './authorization.ts'
import type { Things } from './authorization-world.ts'
import { lockInfo } from './dav-client.ts'
import type { Person } from './harness.ts'

type Level = 'read' | 'write' | 'delete'

/** A WebDAV request and its target: one row of the table. */
export interface DavRow extends Rule {
  method: string
  /**
   * The drive of the target: the owner's files, the workspace, or an entry that the owner shares
   * for editing or for viewing.
   */
  place: Place
  level: Level
  /** The request creates its target, so it works in the caller's own drive. */
  makes?: true
  /** The request needs both the read and the write right, whatever its level. */
  copies?: true
  /** Builds the request for a file of this name. */
  request(aim: DavAim, caller: Person): Promise<DavRequest> | DavRequest
}

interface DavRequest {
  path?: string
  headers?: Record<string, string>
  body?: string
}

/** A file of the owner's, by its URL. Beside it is another file called `<name> other`. */
export interface DavAim {
  path: string
  fileId: string
  things: Things
}

const places = {
  files: { title: '/dav/files', scopes: 'private_files' },
  workspace: { title: '/dav/workspaces', scopes: 'workspaces:files' },
  edited: { title: '/dav/shared (to be edited)', scopes: 'private_files' },
  seen: { title: '/dav/shared (to be seen)', scopes: 'private_files' },
} as const
type Place = keyof typeof places

const PROPPATCH =
  '<d:propertyupdate xmlns:d="DAV:"><d:set><d:prop><x xmlns="urn:x">1</x></d:prop></d:set></d:propertyupdate>'

type Request = Pick<DavRow, 'level' | 'request' | 'makes' | 'copies'>
const depth = { depth: '1' }
const to = (path: string) => ({ headers: { destination: path } })

/**
 * The requests by the title of the row. A method has several rows if the right it needs depends on
 * the existing entries.
 */
const requests: Record<string, Request> = {
  GET: { level: 'read', request: () => ({}) },
  HEAD: { level: 'read', request: () => ({}) },
  PROPFIND: { level: 'read', request: () => ({ headers: depth }) },
  PUT: {
    level: 'write',
    makes: true,
    request: ({ path }) => ({ path: `${path} new`, body: 'new' }),
  },
  'PUT (over a file)': { level: 'delete', makes: true, request: () => ({ body: 'newer' }) },
  MKCOL: { level: 'write', makes: true, request: ({ path }) => ({ path: `${path} folder` }) },
  DELETE: { level: 'delete', request: () => ({}) },
  COPY: { level: 'write', copies: true, request: ({ path }) => to(`${path} copied`) },
  'COPY (what is read)': {
    level: 'read',
    copies: true,
    request: ({ path }) => to(`${path} copied`),
  },
  'COPY (over a file)': {
    level: 'delete',
    copies: true,
    request: ({ path }) => to(`${path} other`),
  },
  MOVE: { level: 'write', request: ({ path }) => to(`${path} moved`) },
  'MOVE (over a file)': { level: 'delete', request: ({ path }) => to(`${path} other`) },
  PROPPATCH: { level: 'write', request: () => ({ body: PROPPATCH }) },
  LOCK: { level: 'write', makes: true, request: () => ({ body: lockInfo() }) },
  UNLOCK: {
    level: 'write',
    request: async ({ things, fileId }, { userId }) => ({
      headers: { 'lock-token': `<${await things.locked(fileId, userId || things.owner.userId)}>` },
    }),
  },
}

/** Every method in every place. */
export const davRows: DavRow[] = Object.entries(places).flatMap(
  ([place, { title: where, scopes }]) =>
    Object.entries(requests).map(([title, request]) => {
      const member = request.level === 'read' && !request.copies ? 'viewer' : 'editor'
      return {
        ...request,
        title: `${title} ${where}`,
        method: title.replace(/ .*/, ''),
        place: place as Place,
        access: { files: 'owner', workspace: member }[place] ?? 'recipient',
        scope: `${scopes}:${request.level}`,
      }
    }),
)

/** Creates two files of the owner's in a place. */
export async function aimAt({ place }: DavRow, things: Things): Promise<DavAim> {
  const { name, owner, workspaceId } = things
  if (place === 'files') {
    const { id: fileId } = await things.upload()
    await things.upload(`${name} other`)
    return { things, fileId, path: `/dav/files/${name}` }
  }
  if (place === 'workspace') {
    const fileId = await things.putFile()
    await things.putFile(`${name} other`)
    return { things, fileId, path: `/dav/workspaces/${await things.slugOf(workspaceId)}/${name}` }
  }
  await owner.upload(`${name} shared/${name} other`, '')
  const { fileId } = await (place === 'edited' ? things.shareToEdit() : things.shareToSee())
  return { things, fileId, path: `/dav/shared/${name} shared/${name}` }
}

/**
 * The expected outcome for a caller. It depends only on the row and the column, not on the service.
 */
export function expectedByDav(
  { place, level, makes, copies, access }: DavRow,
  identity: Identity,
): Outcome {
  const { via, dead, who, role, lacks, elsewhere, readOnly } = identity
  // Browsers send cookies automatically, so cookies do not count as a credential here.
  if (dead || (via !== 'private key' && via !== 'workspace key')) return 'UNAUTHENTICATED'
  const isScopeMissing = lacks || (readOnly && (copies || level !== 'read'))
  if (place === 'workspace') {
    if (!role) return 'FOLDER_NOT_FOUND'
    if (via !== 'workspace key') return 'KEY_OUT_OF_BOUNDS'
    if (isScopeMissing) return 'INSUFFICIENT_SCOPE'
    if (elsewhere) return 'KEY_OUT_OF_BOUNDS'
    return access === 'viewer' || role !== 'viewer' ? 'yes' : 'FORBIDDEN'
  }
  if (via !== 'private key') return 'KEY_OUT_OF_BOUNDS'
  if (place === 'files') {
    // A copy looks up its source before it checks the right to write.
    if (copies && readOnly && who !== 'owner') return 'FILE_NOT_FOUND'
    if (isScopeMissing) return 'INSUFFICIENT_SCOPE'
    return who === 'owner' || makes ? 'yes' : 'FILE_NOT_FOUND'
  }
  if (lacks && level === 'read') return 'INSUFFICIENT_SCOPE'
  if (who !== 'recipient') return 'FOLDER_NOT_FOUND'
  // A shared entry is copied by saving it: docs/decisions/webdav.md.
  if (copies || (place === 'seen' && level !== 'read')) return 'FORBIDDEN'
  return isScopeMissing ? 'INSUFFICIENT_SCOPE' : 'yes'
}

/**
 * The statuses that WebDAV requires for missing resources (RFC 4918, sections 9.3.1, 9.7.1 and
 * 9.11.1). They have no code.
 */
const missing: Partial<Record<string, Partial<Record<Outcome, number>>>> = {
  PUT: { FOLDER_NOT_FOUND: 409 },
  MKCOL: { FOLDER_NOT_FOUND: 409 },
  UNLOCK: { FILE_NOT_FOUND: 409 },
}

/**
 * The table cell for a WebDAV outcome. A refused credential has no code, and a HEAD response has no
 * body.
 */
export function davCell({ method }: DavRow, outcome: Outcome): string {
  if (outcome === 'yes' || outcome === 'null') return outcome
  const special = missing[method]?.[outcome]
  if (special) return String(special)
  const status = naturalStatus[outcome]
  return outcome === 'UNAUTHENTICATED' || method === 'HEAD'
    ? String(status)
    : `${status} ${outcome}`
}
