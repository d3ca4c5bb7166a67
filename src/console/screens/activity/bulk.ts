import { parentOf, trim } from '../../drive/place.ts'

/** Fewer events than this are shown one by one. */
const LEAST = 5
/** The longest pause within one piece of work. */
const PAUSE_MS = 10 * 60_000

const works = [
  [/^(FILE|FOLDER)_CREATED$/, 'bulkCreated'],
  [/^(FILE|FOLDER)_COPIED$/, 'bulkCopied'],
  [/^(FILE|FOLDER)_MOVED$/, 'bulkMoved'],
  [/^(FILE|FOLDER)_DELETED$/, 'bulkDeleted'],
  [/^(FILE|FOLDER)_RESTORED$/, 'bulkRestored'],
] as const

export type BulkWork = (typeof works)[number][1]

interface Done {
  kind: string
  happenedAt: string
}

/** What someone did to many items, or a single event. */
export interface Gathered<Event> {
  /** Null for a single event. */
  work: BulkWork | null
  events: [Event, ...Event[]]
  /** Whether earlier events of this work may not be loaded. */
  isCut: boolean
}

/**
 * Gathers consecutive events of the same work by the same person.
 *
 * @param events newest first
 * @param whose names who caused an event, and where; only equal ones are gathered
 * @param hasMore whether there are earlier events
 */
export function gather<Event extends Done>(
  events: readonly Event[],
  whose: (event: Event) => string,
  hasMore: boolean,
): Gathered<Event>[] {
  const groups: { key: string; work: BulkWork | null; events: [Event, ...Event[]] }[] = []
  for (const event of events) {
    const work = works.find(([kinds]) => kinds.test(event.kind))?.[1] ?? null
    const key = `${work} ${whose(event)}`
    const group = groups.at(-1)
    const before = group?.events.at(-1)
    const pause = before ? Date.parse(before.happenedAt) - Date.parse(event.happenedAt) : 0
    if (work && group?.key === key && pause <= PAUSE_MS) group.events.push(event)
    else groups.push({ key, work, events: [event] })
  }
  return groups.flatMap(({ work, events }, at): Gathered<Event>[] =>
    events.length < LEAST
      ? events.map(event => ({ work: null, events: [event], isCut: false }))
      : [{ work, events, isCut: hasMore && at === groups.length - 1 }],
  )
}

/** The folder that contains all of these paths directly; null if there are several. */
export function folderOf(paths: readonly string[]): string | null {
  const [first, ...others] = new Set(paths.map(path => parentOf(trim(path))))
  return others.length > 0 ? null : (first ?? null)
}
