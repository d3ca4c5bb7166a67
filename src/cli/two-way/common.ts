import {
  type Agreed,
  type Content,
  isSameFile,
  type LocalItem,
  type RemoteItem,
  type Side,
} from './sides.ts'

export type Local = LocalItem & Pick<Agreed, 'mtimeMs' | 'ctimeMs'>

/** What two sides have at one path. */
export interface There {
  local: Local | undefined
  remote: RemoteItem | undefined
}

/**
 * What both sides had last: mostly what they agreed on. What was seen on one side since then may
 * have come to the other one by an action of which nobody knows whether it was carried out: that it
 * was killed is no change by a person, and what a person has changed back since is one.
 * @returns null if both had nothing, undefined if that cannot be told
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

/** Whether a side has an entry that was not even touched since it was remembered. */
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
 * What was moved or restored by the synchronization itself looks otherwise since then, which is no
 * change.
 */
export function withLook(known: Agreed, side: Side, { local, remote }: There): Agreed {
  if (side === 'local') return local ? { ...known, ...localLook(local) } : known
  return remote ? { ...known, id: remote.id, revision: remote.revision } : known
}

/** How a local entry looks; a folder looks otherwise whenever something in it changes. */
export const localLook = ({ kind, identity, mtimeMs, ctimeMs }: Local) =>
  kind === 'folder' ? { identity, mtimeMs: 0, ctimeMs: 0 } : { identity, mtimeMs, ctimeMs }

/** What is known, with another content: which file had it, and how that looked, is not known. */
export function withContent(
  { seen: _, ...known }: Agreed,
  content: Pick<Content, 'size' | 'md5'>,
): Agreed {
  const { size, md5 = '' } = content
  if (known.kind === 'folder' || known.md5 === md5) return known
  return { ...known, size, md5, identity: null, mtimeMs: 0, ctimeMs: 0 }
}
