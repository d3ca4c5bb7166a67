import { InvalidArgumentError } from 'commander'
import type { privateScopes, WorkspaceScope } from '../access/scopes.ts'
import { Failure } from './failure.ts'
import type { OnConflict, Role, Scope, TagColour } from './generated.ts'

/** Scopes of a private key, strongest last. */
export const privateWords = {
  read: 'private_files:read',
  write: 'private_files:write',
  share: 'private_files:share',
  delete: 'private_files:delete',
} as const satisfies Record<string, (typeof privateScopes)[number]>

/** Scopes of a workspace key. */
export const workspaceWords = {
  'files:read': 'workspaces:files:read',
  'files:write': 'workspaces:files:write',
  'files:delete': 'workspaces:files:delete',
  read: 'workspaces:read',
  rename: 'workspaces:write',
  delete: 'workspaces:delete',
  'members:read': 'workspaces:members:read',
  'members:manage': 'workspaces:members:manage',
  'invites:manage': 'workspaces:invites:manage',
} as const satisfies Record<string, WorkspaceScope>

const scopes = [...Object.values(privateWords), ...Object.values(workspaceWords)]

/** The name of a scope in GraphQL. */
const nameOf = (scope: string): string => scope.replaceAll(':', '_').toUpperCase()

const isScope = (name: string): name is Scope => scopes.some(scope => nameOf(scope) === name)

/**
 * The scope for a short word or a full name.
 *
 * @throws INVALID_SCOPE
 */
export function scopeOf(word: string, words: Record<string, string>): Scope {
  const name = nameOf(Object.hasOwn(words, word) ? (words[word] ?? word) : word)
  if (isScope(name)) return name
  throw new Failure(
    'INVALID_SCOPE',
    `"${word}" is not a scope. Choose from ${Object.keys(words).join(', ')}.`,
  )
}

/** The full name of a scope. */
export const wireScope = (name: string): string =>
  scopes.find(scope => nameOf(scope) === name) ?? name

export const inviteRoles = ['viewer', 'editor', 'admin'] as const
export const memberRoles = [...inviteRoles, 'owner'] as const
export type InviteRole = (typeof inviteRoles)[number]
export type MemberRole = (typeof memberRoles)[number]

export const roleOf = (role: MemberRole): Role => role.toUpperCase() as Uppercase<MemberRole>

/** What to do if the name is taken. */
export const conflictWords = {
  fail: 'FAIL',
  'keep-both': 'KEEP_BOTH',
  replace: 'REPLACE',
} as const satisfies Record<string, OnConflict>
export type ConflictWord = keyof typeof conflictWords

/** Tag colours of the service. */
export const colours = [
  'grey',
  'red',
  'orange',
  'yellow',
  'green',
  'teal',
  'blue',
  'purple',
  'pink',
] as const satisfies readonly Lowercase<TagColour>[]
export type Colour = (typeof colours)[number]

/** The printed form of an enum value. */
export const wordOf = (value: string): string => value.toLowerCase()

const units: Record<string, string> = {
  mon: 'mo',
  month: 'mo',
  min: 'm',
  sec: 's',
  hr: 'h',
  yr: 'y',
}

/**
 * `7d`, `7 days`, `1 month`, `a week`: a number and a unit, normalized for the service, which
 * checks the bounds.
 */
export function duration(text: string): string {
  const [, amount, word = ''] = /^(an?|\d+)\s*([a-z]+)$/i.exec(text.trim()) ?? []
  const singular = word.toLowerCase().replace(/(?<=..)s$/, '')
  const unit =
    units[singular] ??
    /^(?:mo|s(?:econd)?|m(?:inute)?|h(?:our)?|d(?:ay)?|w(?:eek)?|y(?:ear)?)$/.exec(singular)?.[0]
  if (amount === undefined || unit === undefined)
    throw new InvalidArgumentError(
      'Write a number and a unit, such as 30m, 12h, 7d, 2w, 6mo or 1y.',
    )
  return `${/^an?$/i.test(amount) ? 1 : amount}${unit === 'mo' ? unit : unit[0]}`
}

/** Like `duration`, but also accepts `never`. */
export const durationOrNever = (text: string): string =>
  text.trim().toLowerCase() === 'never' ? 'never' : duration(text)

const MAGNITUDES = 'KMGT'

/** `500`, `500K`, `20M`, `2G`: a number of bytes, in binary units. */
export function byteCount(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,12})\s*([KMGT])?(?:i?B)?$/i.exec(text.trim()) ?? []
  const count =
    Number(amount) * 1024 ** (unit === '' ? 0 : MAGNITUDES.indexOf(unit.toUpperCase()) + 1)
  if (amount === undefined || count < 1 || !Number.isSafeInteger(count))
    throw new InvalidArgumentError('Write a number of bytes, such as 500K, 20M or 2G.')
  return count
}

/** For commands that return links. */
export const qrOption = [
  '--qr',
  'also print the link as a QR code, for the camera of a phone',
] as const
