import type { Caller } from '../access/caller.ts'
import type { OpenDrive } from '../access/drive.ts'
import type { Incoming } from '../http/incoming.ts'
import { Unauthenticated } from '../runtime/errors.ts'
import type { Services } from '../services/index.ts'
import type { StreamView } from '../services/uploads/upload-stream.ts'
import { VERSION } from './refusal.ts'

export const PREFIX = '/api/tus'

/** A request of a caller who is known. */
export interface Exchange {
  incoming: Incoming
  services: Services
  caller: Caller
  /** The caller by the same credential as it is now; null when that has ended. */
  callerNow: () => Promise<Caller | null>
  /** The id of the upload in the URL; nothing at the URL that makes uploads. */
  id: string | undefined
}

export const urlOf = (id: string): string => `${PREFIX}/${id}`

/** Answers without a body. */
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
 * What each answer says of an upload: how much there is, and until when, or which file it has
 * become.
 */
export function stateHeaders({
  session,
  arrived,
  kind,
  fileId,
}: StreamView): Record<string, string> {
  const isDone = session.isCompleted === true
  return {
    // Of a final upload only when it is joined (section "Concatenation").
    ...(kind === 'joined' && !isDone ? {} : { 'upload-offset': String(arrived) }),
    ...(isDone ? {} : { 'upload-expires': new Date(session.expiresAt).toUTCString() }),
    ...(fileId === null ? {} : { 'satchel-file-id': fileId }),
  }
}

/** Who sends bytes, as the services need it: the right is looked up again while they come. */
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
          'The session or key of this request has ended. Sign in, or use another key.',
        )
      await reopen(now)
    },
  }
}

/** Opens the drive again as its caller may use it now; throws what refuses that. */
export type ReopenDrive = (caller: Caller) => Promise<unknown>
