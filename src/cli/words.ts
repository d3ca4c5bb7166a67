import { InvalidArgumentError } from 'commander'
import type { privateScopes, WorkspaceScope } from '../auth/scopes.ts'

/** Short words for people, and the names of the service. */

/** Scopes of a private key, the strong ones last. */
export const privateWords = {
  read: 'private_files:read',
  write: 'private_files:write',
  share: 'private_files:share',
  delete: 'private_files:delete',
} as const satisfies Record<string, (typeof privateScopes)[number]>

/** Scopes of a key of a workspace. */
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

/** The scope for a short word; other words are passed to the service unchanged. */
export function scopeOf(word: string, words: Record<string, string>): string {
  return Object.hasOwn(words, word) ? (words[word] ?? word) : word
}

export const inviteRoles = ['viewer', 'editor', 'admin'] as const
export const memberRoles = [...inviteRoles, 'owner'] as const

const units: Record<string, string> = { mon: 'mo', month: 'mo', min: 'm', sec: 's', hr: 'h', yr: 'y' }

/** `7d`, `7 days`, `1 month`, `a week`: a number and a unit, normalized for the service, which checks the bounds. */
export function duration(text: string): string {
  const [, amount, word = ''] = /^(an?|\d+)\s*([a-z]+)$/i.exec(text.trim()) ?? []
  const singular = word.toLowerCase().replace(/(?<=..)s$/, '')
  const unit =
    units[singular] ?? /^(?:mo|s(?:econd)?|m(?:inute)?|h(?:our)?|d(?:ay)?|w(?:eek)?|y(?:ear)?)$/.exec(singular)?.[0]
  if (amount === undefined || unit === undefined)
    throw new InvalidArgumentError('Write a number and a unit, such as 30m, 12h, 7d, 2w, 6mo or 1y.')
  return `${/^an?$/i.test(amount) ? 1 : amount}${unit === 'mo' ? unit : unit[0]}`
}
