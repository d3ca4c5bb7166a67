import type { EventKind } from '../../../db/models/event.ts'
import {
  type ActionRow,
  detailsOf,
  filesWithContents,
  latestActions,
} from '../../../db/queries/recent.ts'
import type { Caller } from '../../access/caller.ts'
import { parseJson } from '../../values/json.ts'
import type { Core } from '../core.ts'
import { type PageArgs, readCursor, readLimit, writeCursor } from '../page.ts'

/** The last action of a person on an entry. */
export interface Action {
  entryId: string
  kind: EventKind
  at: number
  /** The drive whose log contains it. */
  logId: string
}

/**
 * The number of a person's latest actions that are read. The cost does not depend on the length of
 * the log.
 */
const MAX_ACTIONS = 1000

/**
 * The kinds of events that count as work on an entry. Deletions do not: a deleted entry is gone, or
 * is shown for earlier work.
 */
const work: ReadonlySet<EventKind> = new Set([
  ...([
    'file.created',
    'file.copied',
    'file.moved',
    'file.renamed',
    'file.restored',
    'file.replaced',
  ] as const),
  ...([
    'folder.created',
    'folder.copied',
    'folder.moved',
    'folder.renamed',
    'folder.restored',
  ] as const),
  ...(['version.restored', 'share.created', 'share.changed'] as const),
])

/** Recent work of people, within the retained events. Nothing here authorizes. */
export function recentService({ db }: Core<'db'>) {
  /** Events of notes refer to a content. Finds the files that have this content now. */
  async function onNotes(caller: Caller, actions: ActionRow[]): Promise<Action[]> {
    const { bucketId } = caller.bucket
    const notes = actions.filter(({ kind, logId }) => kind === 'note.written' && logId === bucketId)
    if (notes.length === 0) return []
    const details = await detailsOf(
      db,
      bucketId,
      notes.map(({ seq }) => Number(seq)),
    )
    const contents = new Map<string, ActionRow>()
    for (const note of notes) {
      const { md5 } = (parseJson(details.get(Number(note.seq)) ?? '') ?? {}) as { md5?: unknown }
      if (typeof md5 === 'string' && !contents.has(md5)) contents.set(md5, note)
    }
    if (contents.size === 0) return []
    const files = await filesWithContents(db, bucketId, [...contents.keys()], MAX_ACTIONS)
    return files.flatMap(({ id, md5 }) => {
      const note = contents.get(md5)
      return note ? [{ entryId: id, kind: note.kind, at: Number(note.at), logId: bucketId }] : []
    })
  }

  return {
    /**
     * Parses the arguments of a page.
     * @throws INVALID_INPUT
     */
    readPage: (page: PageArgs): { limit: number; after: [number, string] | null } => ({
      limit: readLimit(page.limit),
      after: readCursor(page.cursor, ['number', 'id']),
    }),

    /** The cursor after an action. */
    cursorOf: ({ at, entryId }: Pick<Action, 'at' | 'entryId'>): string =>
      writeCursor([at, entryId]),

    /**
     * The entries that the caller worked on, each once with its last action, newest first. One
     * statement, and two more if notes were written. Some entries may be deleted or no longer
     * visible to the caller.
     */
    async actions(caller: Caller): Promise<Action[]> {
      const rows = await latestActions(db, caller.userId, MAX_ACTIONS)
      const all = rows.flatMap(({ entryId, kind, at, logId }) =>
        entryId !== null && work.has(kind) ? [{ entryId, kind, at: Number(at), logId }] : [],
      )
      const sorted = [...all, ...(await onNotes(caller, rows))].sort(newestFirst)
      const latest = new Map<string, Action>()
      for (const action of sorted)
        if (!latest.has(action.entryId)) latest.set(action.entryId, action)
      return [...latest.values()]
    },
  }
}

/** Of actions at the same time, the one with the later id. */
function newestFirst(a: Action, b: Action): number {
  if (a.at !== b.at) return b.at - a.at
  return a.entryId < b.entryId ? 1 : -1
}
