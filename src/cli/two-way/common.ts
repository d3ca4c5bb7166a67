import {
  type Agreed,
  type Content,
  isSameFile,
  type LocalItem,
  type RemoteItem,
  type Side,
} from './sides.ts'

export type Local = LocalItem & Pick<Agreed, 'mtimeMs' | 'ctimeMs'>

/** The current content of both sides at one path. */
export interface There {
  local: Local | undefined
  remote: RemoteItem | undefined
}

/**
 * The last common content of both sides, usually the recorded agreement. An interrupted run may
 * have copied a change from one side to the other without recording it. Such a copy is not a change
 * by a person, but a later change back is one.
 *
 * @returns null if both had nothing, undefined if that cannot be determined
 */
export function commonOf(known: Agreed | undefined, there: There): Content | null | undefined {
  const { seen } = known ?? {}
  if (!known || !seen) return known
  const other = seen.side === 'local' ? there.remote : there.local
  const { content } = seen
  if (content === null) {
    if (other === undefined) return null
  } else if (isSameFile({ kind: 'file', ...content }, other)) return { kind: 'file', ...content }
  const isAsSeen =
    seen.side === 'local'
      ? looksAsKnown.remote(known, there.remote)
      : looksAsKnown.local(known, there.local)
  return isAsSeen ? known : undefined
}

/** Whether a side's entry has the recorded metadata, so that it was not even touched. */
export const looksAsKnown = {
  local: (known: Agreed, now: Local | undefined): boolean =>
    now?.kind === known.kind &&
    now.identity === known.identity &&
    (now.kind === 'folder' ||
      (now.size === known.size && now.mtimeMs === known.mtimeMs && now.ctimeMs === known.ctimeMs)),
  remote: (known: Agreed, now: RemoteItem | undefined): boolean =>
    now?.kind === known.kind && now.id === known.id && now.revision === known.revision,
}

/**
 * Records the new metadata of an entry that the sync itself moved or restored, so that it does not
 * look like a change.
 */
export function withLook(known: Agreed, side: Side, { local, remote }: There): Agreed {
  if (side === 'local') return local ? { ...known, ...localLook(local) } : known
  return remote ? { ...known, id: remote.id, revision: remote.revision } : known
}

/**
 * The metadata of a local entry. A folder's times change with its contents, so they are ignored.
 */
export const localLook = ({ kind, identity, mtimeMs, ctimeMs }: Local) =>
  kind === 'folder' ? { identity, mtimeMs: 0, ctimeMs: 0 } : { identity, mtimeMs, ctimeMs }

/** A record with other content, whose file identity and metadata are unknown. */
export function withContent(
  { seen: _, ...known }: Agreed,
  content: Pick<Content, 'size' | 'md5'>,
): Agreed {
  const { size, md5 = '' } = content
  if (known.kind === 'folder' || known.md5 === md5) return known
  return { ...known, size, md5, identity: null, mtimeMs: 0, ctimeMs: 0 }
}
