import type { Db, Tx } from '../../../db/index.ts'
import type { EventKind, SignInRefusal, Via } from '../../../db/models/event.ts'
import { appendEvents, type EventRow, type LogName } from '../../../db/queries/event.ts'
import type { Caller, Origin, Writer } from '../../access/caller.ts'
import type { Role } from '../../access/roles.ts'
import { type Measures, silentMeasures } from '../../telemetry/telemetry.ts'
import type { LimitChange } from '../accounts/limit.ts'
import type { PubSub } from '../notices/pub-sub.ts'

/** Who does something, and by what. The ids are no credentials. */
export interface Actor {
  userId: string | null
  via: Via
  viaId: string | null
  from?: Origin
  /** The operator behind `operator`. */
  operatorId?: string | null
}

/** What is kept of an event beside its subject: see docs/decisions/events.md for what never is. */
export interface EventDetails {
  /** Where the entry is, or was before it was deleted. */
  path?: string
  /** Where it was before it was moved. */
  from?: string
  bytes?: number
  md5?: string
  /** How many files went with a folder. */
  files?: number
  /** The file that is shared, by its id. */
  entryId?: string
  /** An e-mail address, masked. */
  recipient?: string
  /** The name of a workspace or key, as it is; of a webhook, the host of its URL. */
  name?: string
  workspaceId?: string
  role?: Role
  plan?: string
  /** The limits that were set. */
  limits?: readonly LimitChange[]
  /**
   * Of mails that are sent again; of sign-ins that were refused for this reason within an hour,
   * from everywhere.
   */
  count?: number
  provider?: string
  /** The name given by the sender of a file, who is not authenticated. */
  sender?: string
  /** Why a sign-in was refused. */
  refusal?: SignInRefusal
  /** "Firefox on Linux" */
  device?: string
  /** A truncated IP address. */
  network?: string
}

/** Something that happened. */
export interface NewEvent<K extends EventKind = EventKind> {
  kind: K
  /** The id of the entry, share, member, invite, key, webhook, session or identity. */
  subject: string | null
  details?: EventDetails
}

/** An event as its readers see it. */
export interface EventView extends Omit<EventRow, 'details'> {
  /** Of the log and the number in it. */
  id: string
  details: EventDetails
}

/** A change under way: its transaction, and what it will have done. */
export interface Change {
  tx: Tx
  /** Notes what happened, in the order in which it is called. */
  record(log: LogName, ...events: NewEvent[]): void
}

export const system: Actor = { userId: null, via: 'system', viaId: null }
/**
 * Operators act for the service: the people concerned do not learn which of them it was; the audit
 * trail says it.
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
 * Runs a change in a transaction, and appends to the logs what it has recorded. The end of the
 * transaction: see appendEvents.
 * @returns what the change returns, the logs, and the kinds of the events
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

/** The file or folder that an event is about: the file of a share, else what has a path. */
const entryIn = (subject: string | null, { entryId, path }: EventDetails): string | null =>
  entryId ?? (path === undefined ? null : subject)

/**
 * The topic under which the growth of a log is published; the log of an e-mail address has none,
 * because what else is published to that address says it.
 */
const namesOf = (log: LogName): string[] =>
  typeof log === 'string' ? [log] : 'workspace' in log ? [log.workspace] : []

/** Runs changes, each in one transaction with its events, and publishes which logs have grown. */
export type ChangeRunner = <T>(
  by: Actor | Writer,
  work: (change: Change) => Promise<T>,
) => Promise<T>

/** @param pubSub none for programs whose changes the service finds in the logs */
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

/** An e-mail address that only those recognize who know it: "b…@example.com". */
export const masked = (email: string): string => email.replace(/^(.)[^@]*/u, '$1…')
