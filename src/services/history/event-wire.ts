import type { Role } from '../../access/roles.ts'
import type { AccountRefusal } from '../accounts/profile.ts'
import { writeCursor } from '../page.ts'
import type { EventView } from './event-feed.ts'

/** An event as REST and webhooks send it; times as RFC 3339. What there is nothing to say about is null. */
export interface EventOnWire {
  id: string
  kind: string
  happened_at: string
  actor_id: string | null
  via: string
  api_key_id: string | null
  subject_id: string | null
  /** What is after it comes after this cursor. */
  cursor: string
  details: {
    path: string | null
    from: string | null
    size: number | null
    md5: string | null
    files: number | null
    entry_id: string | null
    recipient: string | null
    name: string | null
    workspace_id: string | null
    role: Role | null
    plan: string | null
    provider: string | null
    refusal: AccountRefusal | null
    device: string | null
    network: string | null
  }
}

export function onWire({ id, logId, seq, kind, at, actorId, via, viaId, subjectId, details }: EventView): EventOnWire {
  return {
    id,
    kind,
    happened_at: new Date(at).toISOString(),
    actor_id: actorId,
    via,
    api_key_id: via === 'key' ? viaId : null,
    subject_id: subjectId,
    cursor: writeCursor([logId, seq]),
    details: {
      path: details.path ?? null,
      from: details.from ?? null,
      size: details.bytes ?? null,
      md5: details.md5 ?? null,
      files: details.files ?? null,
      entry_id: details.entryId ?? null,
      recipient: details.recipient ?? null,
      name: details.name ?? null,
      workspace_id: details.workspaceId ?? null,
      role: details.role ?? null,
      plan: details.plan ?? null,
      provider: details.provider ?? null,
      refusal: details.refusal ?? null,
      device: details.device ?? null,
      network: details.network ?? null,
    },
  }
}
