import type { Db, Tx } from '../../../db/index.ts'
import type { EventKind, SignInRefusal, Via } from '../../../db/models/event.ts'
import { appendEvents, type EventRow, type LogName } from '../../../db/queries/event.ts'
import type { Caller, Origin, Writer } from '../../access/caller.ts'
import type { Role } from '../../access/roles.ts'
import type { ErrorCode } from '../../runtime/errors.ts'
import { type Measures, silentMeasures } from '../../telemetry/telemetry.ts'
import type { LimitChange } from '../accounts/limit.ts'
import type { PubSub } from '../notices/pub-sub.ts'

/** The actor of a change and the credential's id. The ids are not secrets. */
export interface Actor {
  userId: string | null
  via: Via
  viaId: string | null
  from?: Origin
  /** The operator behind the actor `operator`. */
  operatorId?: string | null
}

/**
 * The stored details of an event besides its subject. docs/decisions/events.md lists what is never
 * stored.
 */
export interface EventDetails {
  /** The path of the entry, or its path before it was deleted. */
  path?: string
  /** Its path before it was moved. */
  from?: string
  bytes?: number
  md5?: string
  /** The number of files deleted with a folder. */
  files?: number
  /** The id of the shared file. */
  entryId?: string
  /** A masked e-mail address. */
  recipient?: string
  /** The name of a workspace, key or assistant, or the host of a webhook's URL. */
  name?: string
  workspaceId?: string
  role?: Role
  plan?: string
  /** The changed limits. */
  limits?: readonly LimitChange[]
  /** The number of mails sent again, or of sign-ins refused for this reason within an hour. */
  count?: number
  provider?: string
  /** The name given by the sender of a file, who is not authenticated. */
  sender?: string
  /** The reason for refusing a sign-in. */
  refusal?: SignInRefusal
  /** "Firefox on Linux" */
  device?: string
  /** A truncated IP address. */
  network?: string
  /** The tool that an assistant called. */
  tool?: string
  /** The error code if the call failed. */
  code?: ErrorCode
}

/** An event to record. */
export interface NewEvent<K extends EventKind = EventKind> {
  kind: K
  /** The id of the entry, share, member, invite, key, webhook, session or identity. */
  subject: string | null
  details?: EventDetails
}

/** An event as its readers see it. */
export interface EventView extends Omit<EventRow, 'details'> {
  /** Made of the log and the number in it. */
  id: string
  details: EventDetails
}

/** An active change: its transaction and the events to record. */
export interface Change {
  tx: Tx
  /** Records events in the order of the calls. */
  record(log: LogName, ...events: NewEvent[]): void
}

export const system: Actor = { userId: null, via: 'system', viaId: null }
/**
 * Operators act for the service. The people concerned do not see which operator it was; the audit
 * trail does.
 * @param by null for the command line of the service
 */
export const operatorOf = (by: Caller | null): Actor => ({
  userId: null,
  via: 'operator',
  viaId: null,
  operatorId: by?.userId ?? null,
  from: by
    ? (by.from ?? { address: null, agent: null })
    : { address: null, agent: 'npm run admin' },
})

const viaOf = {
  session: 'session',
  api_key: 'key',
  file_request: 'link',
} as const satisfies Record<Writer['via'], Via>

const viaOfWriter = (by: Writer): Via => ('face' in by && by.face ? by.face : viaOf[by.via])

const actorOf = (by: Actor | Writer): Actor =>
  'credentialId' in by
    ? {
        userId: by.userId,
        via: viaOfWriter(by),
        viaId: by.credentialId,
        ...(by.from ? { from: by.from } : {}),
      }
    : by

/**
 * Runs a change in a transaction, and appends its recorded events to the logs at the end (see
 * appendEvents).
 * @returns the result of the change, the logs, and the kinds of the events
 */
export async function recorded<T>(
  db: Db,
  by: Actor | Writer,
  tx: Tx,
  work: (change: Change) => Promise<T>,
): Promise<{ done: T; logs: string[]; kinds: EventKind[] }> {
  const { userId: actorId, via, viaId, from, operatorId = null } = actorOf(by)
  const origin = { address: from?.address ?? null, agent: from?.agent ?? null, operatorId }
  const events: (NewEvent & { log: LogName })[] = []
  const done = await work({
    tx,
    record(log, ...what) {
      for (const event of what) events.push({ log, ...event })
    },
  })
  const at = Date.now()
  const rows = events.map(({ log, kind, subject, details = {} }) => ({
    log,
    at,
    actorId,
    via,
    viaId,
    kind,
    ...origin,
    subjectId: subject,
    entryId: entryIn(subject, details),
    details: JSON.stringify(details),
  }))
  await appendEvents(db, rows, tx)
  return {
    done,
    logs: [...new Set(events.flatMap(({ log }) => namesOf(log)))],
    kinds: events.map(({ kind }) => kind),
  }
}

/** The file or folder of an event: the file of a share, or the entry with the path. */
const entryIn = (subject: string | null, { entryId, path }: EventDetails): string | null =>
  entryId ?? (path === undefined ? null : subject)

/**
 * The topic that announces new events of a log. The log of an e-mail address has none, because
 * other messages to that address announce the same.
 */
const namesOf = (log: LogName): string[] =>
  typeof log === 'string' ? [log] : 'workspace' in log ? [log.workspace] : []

/**
 * Runs changes, each in one transaction with its events, and announces the logs with new events.
 */
export type ChangeRunner = <T>(
  by: Actor | Writer,
  work: (change: Change) => Promise<T>,
) => Promise<T>

/** @param pubSub missing in programs whose changes the service finds in the logs */
export function changeRunner({
  db,
  pubSub,
  measures = silentMeasures,
}: {
  db: Db
  pubSub?: PubSub
  measures?: Measures
}): ChangeRunner {
  return async (by, work) => {
    const { done, logs, kinds } = await db.transaction(tx => recorded(db, by, tx, work))
    for (const kind of kinds) measures.counter('events', { kind })()
    for (const log of logs) pubSub?.publish('logged', log)
    return done
  }
}

/** A masked e-mail address that only people who know it recognize: "b…@example.com". */
export const masked = (email: string): string => email.replace(/^(.)[^@]*/u, '$1…')

/** The details of an event about a share: its recipient, if it has one. */
export const maskedIn = (recipient: string | null): Pick<EventDetails, 'recipient'> =>
  recipient === null ? {} : { recipient: masked(recipient) }
