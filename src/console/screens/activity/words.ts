import { nameOf, parentOf, trim } from '../../drive/place.ts'
import { personName } from '../../parts/person-name.ts'
import { roleName } from '../workspaces/roles.ts'
import { type BulkWork, folderOf } from './bulk.ts'
import type { Happened } from './documents.ts'
import { text } from './text.ts'

/** The message key of each kind of event. Other kinds get a generic sentence. */
const messageOf = {
  FILE_CREATED: 'fileCreated',
  FILE_REPLACED: 'replaced',
  FILE_COPIED: 'copied',
  FILE_MOVED: 'moved',
  FILE_RENAMED: 'renamed',
  FILE_DELETED: 'fileDeleted',
  FILE_RESTORED: 'restored',
  FOLDER_CREATED: 'folderCreated',
  FOLDER_COPIED: 'copied',
  FOLDER_MOVED: 'moved',
  FOLDER_RENAMED: 'renamed',
  FOLDER_DELETED: 'folderDeleted',
  FOLDER_RESTORED: 'restored',
  VERSION_RESTORED: 'versionRestored',
  VERSION_DELETED: 'versionDeleted',
  TRASH_PURGED: 'purged',
  NOTE_WRITTEN: 'noteWritten',
  NOTE_REMOVED: 'noteRemoved',
  SHARE_CREATED: 'shared',
  SHARE_CHANGED: 'shareChanged',
  SHARE_REVOKED: 'unshared',
  TAG_CREATED: 'tagCreated',
  TAG_CHANGED: 'tagChanged',
  TAG_DELETED: 'tagDeleted',
  FILE_REQUEST_CREATED: 'requestCreated',
  FILE_REQUEST_CHANGED: 'requestChanged',
  FILE_REQUEST_CLOSED: 'requestClosed',
  WORKSPACE_CREATED: 'workspaceCreated',
  WORKSPACE_RENAMED: 'workspaceRenamed',
  LIMITS_CHANGED: 'limitsChanged',
  MEMBER_JOINED: 'joined',
  MEMBER_ROLE_CHANGED: 'roleChanged',
  MEMBER_REMOVED: 'memberRemoved',
  MEMBER_LEFT: 'left',
  INVITE_CREATED: 'invited',
  INVITE_CHANGED: 'inviteChanged',
  INVITE_REVOKED: 'inviteRevoked',
  INVITE_REJECTED: 'inviteRejected',
  KEY_CREATED: 'keyCreated',
  KEY_DELETED: 'keyDeleted',
} as const satisfies Partial<Record<Happened['kind'], Parameters<typeof text>[0]>>

const isSaid = (kind: Happened['kind']): kind is keyof typeof messageOf => kind in messageOf

/** Isolates the direction of a name, so that right-to-left names do not reorder the sentence. */
const isolated = (name: string): string => `\u2068${name}\u2069`

export const whoDid = ({ actor, via, details }: Happened, me: string | undefined): string => {
  if (via === 'LINK')
    return details.sender ? text('sender', { name: isolated(details.sender) }) : text('somebody')
  if (via === 'OPERATOR') return text('operator')
  if (!actor) return text('service')
  return actor.id === me ? text('you') : text('person', { name: isolated(personName(actor)) })
}

/**
 * An event as a sentence.
 *
 * @param me id of the reading person
 * @param root display name of the root of the drive
 */
export function sentenceOf(event: Happened, me: string | undefined, root: string): string {
  const { path, from, files, recipient, name, role } = event.details
  const at = trim(path ?? event.entry?.path ?? '')
  return text(isSaid(event.kind) ? messageOf[event.kind] : 'other', {
    who: whoDid(event, me),
    name: isolated(nameOf(at) || root),
    file: at ? text('file', { name: isolated(nameOf(at)) }) : text('aFile'),
    folder: isolated(nameOf(parentOf(at)) || root),
    before: isolated(nameOf(trim(from ?? ''))),
    count: files ?? 0,
    recipient: recipient ? isolated(recipient) : 'none',
    title: isolated(name ?? ''),
    role: role ? roleName(role) : '',
  })
}

/**
 * Work on many items as a sentence.
 *
 * @param who null for the reading person
 * @param paths of the items
 * @param isCut whether there may be more items
 * @param root display name of the root of the drive
 */
export function sentenceOfBulk(work: BulkWork, { who, paths, isCut, root }: BulkSaid): string {
  const folder = folderOf(paths)
  return text(work, {
    who: who ?? text('you'),
    count: paths.length,
    more: isCut ? 'yes' : 'no',
    folder: folder === null ? 'none' : isolated(nameOf(folder) || root),
  })
}

interface BulkSaid {
  who: string | null
  paths: readonly string[]
  isCut: boolean
  root: string
}
