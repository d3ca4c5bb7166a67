import { wireName } from '../accounts/limit.ts'
import { writeCursor } from '../page.ts'
import type { EventDetails, EventView } from './event.ts'

/** An event as REST and webhooks send it, with RFC 3339 times. Missing values are null. */
export type EventOnWire = ReturnType<typeof onWire>

export function onWire({
  id,
  logId,
  seq,
  kind,
  at,
  actorId,
  via,
  viaId,
  subjectId,
  details,
}: EventView) {
  return {
    id,
    kind,
    happened_at: new Date(at).toISOString(),
    actor_id: actorId,
    via,
    api_key_id: via === 'key' || via === 'webdav' ? viaId : null,
    subject_id: subjectId,
    /** Later events follow this cursor. */
    cursor: writeCursor([logId, seq]),
    details: detailsOnWire(details),
  }
}

function detailsOnWire(details: EventDetails) {
  const { path, from, bytes, md5, files, entryId, recipient, name, workspaceId, ...more } = details
  // No event that is sent has a count.
  const {
    role,
    plan,
    limits,
    provider,
    sender,
    refusal,
    device,
    network,
    tool,
    code,
    count: _,
    ...rest
  } = more
  // The types reject a detail that is not sent.
  rest satisfies Record<string, never>
  return {
    path: path ?? null,
    from: from ?? null,
    size: bytes ?? null,
    md5: md5 ?? null,
    files: files ?? null,
    entry_id: entryId ?? null,
    recipient: recipient ?? null,
    name: name ?? null,
    workspace_id: workspaceId ?? null,
    role: role ?? null,
    plan: plan ?? null,
    limits:
      limits?.map(({ name, value }) => ({
        name: wireName(name),
        value: typeof value === 'number' ? value : null,
        unlimited: value === 'unlimited',
      })) ?? null,
    provider: provider ?? null,
    sender: sender ?? null,
    refusal: refusal ?? null,
    device: device ?? null,
    network: network ?? null,
    tool: tool ?? null,
    code: code ?? null,
  }
}
