import type { EventKind } from './documents.ts'

/** Whose events a webhook receives. */
export type Source = 'own' | 'person' | 'workspace'

type Groups = readonly (readonly [name: string, kinds: readonly EventKind[]])[]

const files = [
  [
    'files',
    [
      'FILE_CREATED',
      'FILE_REPLACED',
      'FILE_RENAMED',
      'FILE_COPIED',
      'FILE_MOVED',
      'FILE_DELETED',
      'FILE_RESTORED',
      'VERSION_RESTORED',
      'VERSION_DELETED',
      'TRASH_PURGED',
    ],
  ],
  [
    'folders',
    [
      'FOLDER_CREATED',
      'FOLDER_COPIED',
      'FOLDER_RENAMED',
      'FOLDER_MOVED',
      'FOLDER_DELETED',
      'FOLDER_RESTORED',
    ],
  ],
] as const satisfies Groups

const requests = [
  'requests',
  ['FILE_REQUEST_CREATED', 'FILE_REQUEST_CHANGED', 'FILE_REQUEST_CLOSED'],
] as const

const tags = ['tags', ['TAG_CREATED', 'TAG_CHANGED', 'TAG_DELETED']] as const

const keysAndWebhooks = [
  ['keys', ['KEY_CREATED', 'KEY_DELETED']],
  ['webhooks', ['WEBHOOK_CREATED', 'WEBHOOK_CHANGED', 'WEBHOOK_DELETED', 'WEBHOOK_DISABLED']],
] as const satisfies Groups

/** Event types, in the groups of the form. */
export const groupsOf = {
  own: [
    ...files,
    ['notes', ['NOTE_WRITTEN', 'NOTE_REMOVED']],
    requests,
    ['shares', ['SHARE_CREATED', 'SHARE_CHANGED', 'SHARE_REVOKED']],
    tags,
  ],
  workspace: [
    ...files,
    requests,
    tags,
    ['workspace', ['WORKSPACE_CREATED', 'WORKSPACE_RENAMED', 'LIMITS_CHANGED']],
    ['members', ['MEMBER_JOINED', 'MEMBER_ROLE_CHANGED', 'MEMBER_REMOVED', 'MEMBER_LEFT']],
    ['invites', ['INVITE_CREATED', 'INVITE_CHANGED', 'INVITE_REVOKED', 'INVITE_REJECTED']],
    ...keysAndWebhooks,
  ],
  person: [
    ['received', ['SHARE_RECEIVED', 'INVITE_RECEIVED', 'WORKSPACE_JOINED', 'WORKSPACE_LEFT']],
    [
      'signIn',
      [
        'SESSION_STARTED',
        'SESSION_ENDED',
        'SESSION_OTHERS_ENDED',
        'SIGN_IN_REFUSED',
        'IDENTITY_ADDED',
        'IDENTITY_REMOVED',
        'PASSWORD_CHANGED',
        'FACTOR_ADDED',
        'FACTOR_REMOVED',
        'CODES_MADE',
        'PASSKEY_ADDED',
        'PASSKEY_REMOVED',
      ],
    ],
    ...keysAndWebhooks,
    [
      'account',
      [
        'PLAN_CHANGED',
        'LIMITS_CHANGED',
        'ACCOUNT_SUSPENDED',
        'ACCOUNT_RESTORED',
        'OPERATOR_APPOINTED',
        'OPERATOR_DISMISSED',
        'ACCOUNT_RESET',
        'ADDRESS_CHANGED',
      ],
    ],
    ['assistants', ['ASSISTANT_CALLED']],
  ],
} as const satisfies Record<Source, Groups>

/** The event type in the payload: file.created. */
export const typeOf = (kind: EventKind): string =>
  kind.replace(/^(SIGN_IN|FILE_REQUEST|[A-Z]+)_/, '$1.').toLowerCase()
