import { longText, moment, number, type Row, table, text, uuid, word } from './columns.ts'

/** The kinds of events in a drive, by their subjects. */
export const driveKinds = {
  files: [
    'file.created',
    'file.copied',
    'file.moved',
    'file.renamed',
    'file.deleted',
    'file.restored',
    'file.replaced',
    'folder.created',
    'folder.copied',
    'folder.moved',
    'folder.renamed',
    'folder.deleted',
    'folder.restored',
    'trash.purged',
    'version.restored',
    'version.deleted',
    'note.written',
    'note.removed',
  ],
  requests: ['file_request.created', 'file_request.changed', 'file_request.closed'],
  shares: ['share.created', 'share.changed', 'share.revoked'],
  tags: ['tag.created', 'tag.changed', 'tag.deleted'],
  workspace: ['workspace.created', 'workspace.renamed', 'limits.changed'],
  members: ['member.joined', 'member.role_changed', 'member.removed', 'member.left'],
  invites: ['invite.created', 'invite.changed', 'invite.revoked', 'invite.rejected'],
  keys: ['key.created', 'key.deleted'],
  webhooks: ['webhook.created', 'webhook.changed', 'webhook.deleted', 'webhook.disabled'],
} as const

/** The kinds of events about a person. */
export const personKinds = [
  'sign_in.refused',
  'session.started',
  'session.ended',
  'session.others_ended',
  'identity.added',
  'identity.removed',
  'key.created',
  'key.deleted',
  'webhook.created',
  'webhook.changed',
  'webhook.deleted',
  'webhook.disabled',
  'share.received',
  'invite.received',
  'workspace.joined',
  'workspace.left',
  'plan.changed',
  'limits.changed',
  'account.suspended',
  'account.restored',
  'operator.appointed',
  'operator.dismissed',
  'account.reset',
  'address.changed',
  'password.changed',
  'factor.added',
  'factor.removed',
  'codes.made',
  'passkey.added',
  'passkey.removed',
  'assistant.called',
] as const

export type DriveEventGroup = keyof typeof driveKinds
export type DriveEventKind = (typeof driveKinds)[DriveEventGroup][number]
export type PersonEventKind = (typeof personKinds)[number]
/** The kinds of events of the service itself, which only operators read. */
export const serviceKinds = [
  'account.deleted',
  'account.exported',
  'account.invited',
  'plan.created',
  'plan.updated',
  'plan.retired',
  'plan.restored',
  'plan.deleted',
  'plan.made_default',
  'mails.retried',
  'maintenance.started',
  'maintenance.ended',
  'audit.read',
  'grants.read',
] as const

export type ServiceEventKind = (typeof serviceKinds)[number]
export type EventKind = DriveEventKind | PersonEventKind | ServiceEventKind

/** The log for events that concern neither a drive nor an existing person. */
export const SERVICE_LOG = '00000000-0000-0000-0000-000000000000'

/** The kinds that the owners of a log can see. */
export const eventKinds: readonly EventKind[] = [
  ...new Set<EventKind>([...Object.values(driveKinds).flat(), ...personKinds]),
]

/** The kinds that operators can see: all. */
export const auditKinds: readonly EventKind[] = [...eventKinds, ...serviceKinds]

/** The means by which someone acts. */
export const vias = ['session', 'key', 'link', 'operator', 'system', 'webdav'] as const
export type Via = (typeof vias)[number]

/** Why a sign-in to an account was refused. */
export const accountRefusals = ['suspended', 'email_unverified', 'identity_taken'] as const
export type AccountRefusal = (typeof accountRefusals)[number]

/** Why a sign-in was refused, including sign-ins that concern no account. */
export const signInRefusals = [
  ...accountRefusals,
  'auth_failed',
  'invalid_state',
  'provider_unavailable',
  'sign_up_closed',
  'maintenance',
] as const
export type SignInRefusal = (typeof signInRefusals)[number]

/**
 * Something that happened in a drive, or to a person; one row of one log. The numbers of a log have
 * no gaps and follow the order of the commits.
 */
export const Event = table({
  tableName: 'event',
  columns: {
    /** The id of the bucket or of the user that it concerns. */
    logId: uuid.key(),
    seq: number.key(),
    at: moment,
    actorId: uuid.nullable(),
    via: word<Via>(8),
    /** The id of the session, key, share or file request. */
    viaId: uuid.nullable(),
    kind: word<EventKind>(32),
    subjectId: uuid.nullable(),
    /** The file or folder that it is about, if any. */
    entryId: uuid.nullable(),
    /** JSON as text: MariaDB returns JSON columns as text anyway. */
    details: longText,
    /**
     * The address of the client as LOG_ADDRESSES shows it; null for events without a client. Only
     * operators can read this column and the next two.
     */
    address: word(64).nullable(),
    /** What the client calls itself. */
    agent: text(200).nullable(),
    /** The operator behind `operator`; null for the command line of the service. */
    operatorId: uuid.nullable(),
  },
  indexes: [
    ['at'],
    ['entryId', 'seq'],
    ['actorId', 'at'],
    ['address', 'at'],
    ['kind', 'at'],
    ['operatorId', 'at'],
    ['viaId', 'at'],
  ],
})

export type Event = Row<typeof Event>
