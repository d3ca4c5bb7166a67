import type { Caller } from '../access/caller.ts'
import type { OpenDrive } from '../access/drive.ts'
import type { Incoming } from '../http/incoming.ts'
import { Unauthenticated } from '../runtime/errors.ts'
import type { Services } from '../services/index.ts'
import type { StreamView } from '../services/uploads/upload-stream.ts'
import { VERSION } from './refusal.ts'

export const PREFIX = '/api/tus'

/** A request of an authenticated caller. */
export interface Exchange {
  incoming: Incoming
  services: Services
  caller: Caller
  /** Authenticates the same credential again; null if it has expired or was revoked. */
  callerNow: () => Promise<Caller | null>
  /** The upload id in the URL; undefined at the URL for creation. */
  id: string | undefined
}

export const urlOf = (id: string): string => `${PREFIX}/${id}`

/** Sends a response without a body. */
export function sendEmpty(
  { incoming: { res } }: Exchange,
  status: number,
  headers: Record<string, string> = {},
): void {
  const usual = { 'tus-resumable': VERSION, 'cache-control': 'no-store' }
  res
    .writeHead(status, { ...usual, ...headers, ...(status === 204 ? {} : { 'content-length': 0 }) })
    .end()
}

/**
 * The headers that describe an upload in each response: its offset, and its expiry or the finished
 * file.
 */
export function stateHeaders({
  session,
  arrived,
  kind,
  fileId,
}: StreamView): Record<string, string> {
  const isDone = session.isCompleted === true
  return {
    // A final upload has an offset only once it is concatenated (section "Concatenation").
    ...(kind === 'joined' && !isDone ? {} : { 'upload-offset': String(arrived) }),
    ...(isDone ? {} : { 'upload-expires': new Date(session.expiresAt).toUTCString() }),
    ...(fileId === null ? {} : { 'satchel-file-id': fileId }),
  }
}

/** The sender in the form that the services need. The right is checked again while bytes arrive. */
export function senderOf(
  { incoming, services, caller, callerNow }: Exchange,
  { drive, limits }: OpenDrive,
  reopen: ReopenDrive,
) {
  return {
    caller,
    signal: incoming.signal,
    limits,
    decide: (choice: Parameters<typeof drive.onConflict>[0]) => drive.onConflict(choice),
    async goesOn(): Promise<void> {
      services.maintenance.requireWritable()
      const now = await callerNow()
      if (!now)
        throw new Unauthenticated(
          'The session or key of this request is no longer valid. Sign in, or use another key.',
        )
      await reopen(now)
    },
  }
}

/** Reopens the drive with the caller's current rights. Throws if access is refused. */
export type ReopenDrive = (caller: Caller) => Promise<unknown>
