import { setImmediate as nextTurn } from 'node:timers/promises'
import { FILE, FOLDER } from '../../../db/models/entry.ts'
import type { DriveEventKind } from '../../../db/models/event.ts'
import type { PlacedRow } from '../../../db/queries/entry-list.ts'
import { type EventRow, endsOf, eventsOf } from '../../../db/queries/event.ts'
import { notesOf } from '../../../db/queries/note.ts'
import {
  beginSearchDrive,
  bucketsWithoutIndex,
  entriesInOrder,
  grownSearchDrives,
  moveSearchDrive,
  restartSearchDrive,
  type SearchDrive,
  searchDrives,
  unfinishedSearchDrives,
} from '../../../db/queries/search-drive.ts'
import {
  childrenOfFolders,
  classWord,
  entriesOfContents,
  insertWords,
  noteWord,
  placedEntries,
  wholeName,
} from '../../../db/queries/search-word.ts'
import { inParts } from '../../../db/queries/sql.ts'
import { fileClassOf } from '../../formats/file-class.ts'
import { fold, wordsIn, wordsOfName } from '../../values/search-words.ts'
import type { Core } from '../core.ts'
import type { ContentsService } from './search-text.ts'

/** Entries and events per batch. */
const ENTRIES = 200
const EVENTS = 200
const FOLDERS = 50
/** Entries and words that are written together. Requests wait no longer than one such write. */
const ADDED = 20
const WORDS = 1000
/**
 * Only the first words of a note are indexed, because each word is a row for every copy of the
 * note.
 */
const NOTE_WORDS = 500
/**
 * Files with contents whose note has changed, and entries below copied folders. If there are more,
 * the drive is filled anew, which is done in parts.
 */
const COPIES = 1000
const BELOW = 2000
/** Searches do not wait for a drive that has been filling for longer. */
const FILLING_MS = 3000

/** The events that change the words of an entry in the index. */
const kinds: readonly DriveEventKind[] = [
  'file.created',
  'file.copied',
  'file.moved',
  'file.renamed',
  'file.restored',
  'file.replaced',
  'folder.created',
  'folder.copied',
  'folder.moved',
  'folder.renamed',
  'folder.restored',
  'version.restored',
  'note.written',
]

/** The contents of a copied folder have no events of their own. */
const bringsMore = ({ kind }: EventRow) => kind === 'folder.copied'

/**
 * Maintains the search index by following the logs of the drives, so that changes have no extra
 * cost. A drive is indexed from its first entry on, and then event by event. Several processes may
 * index at once, because additions are idempotent and a process continues from the position that
 * another process has stored.
 */
export function searchIndexService({
  db,
  log,
  contents,
  isPaused,
}: Core<'db' | 'log'> & {
  contents: ContentsService
  /** Whether writes are paused. */
  isPaused: () => boolean
}) {
  /**
   * Runs without a transaction, because there may be many entries. Additions are idempotent, and
   * nothing relies on them until the position has moved.
   */
  async function addEntries(
    { number, bucketId }: SearchDrive,
    entries: readonly PlacedRow[],
  ): Promise<void> {
    for (const part of inParts(entries, ADDED)) {
      const files = part.filter(({ kind }) => kind === FILE)
      const notes = await notesOf(db, bucketId, [...new Set(files.map(({ md5 }) => md5))])
      const noted = new Map(Array.from(notes, ([md5, note]) => [md5, firstWordsOf(note)]))
      const rows = part.flatMap(entry => {
        const { id, name, kind, contentType, md5 } = entry
        // The root has no name.
        if (name === '') return []
        const fileClass = kind === FOLDER ? 'folder' : fileClassOf(name, contentType)
        return [
          ...wordsOfName(name),
          wholeName(fold(name)),
          ...(fileClass ? [classWord(fileClass)] : []),
          ...(kind === FILE ? (noted.get(md5) ?? []) : []),
        ].map(word => ({ drive: number, word, entryId: id }))
      })
      for (const some of inParts(rows, WORDS)) {
        await insertWords(db, some)
        await nextTurn()
      }
      const texts = files.flatMap(({ blobId, name, contentType, size }) =>
        blobId ? [{ blobId, name, fileType: contentType, size }] : [],
      )
      await contents.order(number, texts)
    }
  }

  /** Indexes the next entries of a drive that is not fully indexed. */
  async function fill(drive: SearchDrive): Promise<void> {
    const [kind, after = ''] = (drive.place ?? '').split(':')
    const isFiles = kind === 'file'
    const rows = await entriesInOrder(db, drive.bucketId, isFiles ? FILE : FOLDER, after, ENTRIES)
    const last = rows.at(-1)
    let place: string | null = `${isFiles ? 'file' : 'folder'}:${last?.id ?? ''}`
    if (rows.length < ENTRIES) place = isFiles ? null : 'file:'
    await addEntries(drive, rows)
    await db.transaction(tx =>
      moveSearchDrive(db, drive, { place, seq: drive.seq, added: rows.length }, tx),
    )
  }

  /**
   * Adds the contents of the given folders, at any depth.
   * @returns whether the contents were within the limit
   */
  async function addBelow(drive: SearchDrive, folderIds: string[]): Promise<boolean> {
    let level = folderIds
    let left = BELOW
    while (level.length > 0) {
      const next: string[] = []
      for (const some of inParts(level, FOLDERS)) {
        const children = await childrenOfFolders(db, some, left + 1)
        left -= children.length
        if (left < 0) return false
        await addEntries(drive, children)
        next.push(...children.filter(({ kind }) => kind === FOLDER).map(({ id }) => id))
      }
      level = next
    }
    return true
  }

  /**
   * Follows the log of a drive for one batch.
   * @returns whether there may be more
   */
  async function follow(drive: SearchDrive): Promise<boolean> {
    const { head, purged } = await endsOf(db, drive.bucketId)
    if (drive.seq === head) return false
    // Events were purged before they were read, or a backup was restored.
    if (drive.seq < purged || drive.seq > head) {
      await restartSearchDrive(db, drive.bucketId, head)
      return true
    }
    const events = await eventsOf(db, drive.bucketId, {
      after: drive.seq,
      newestFirst: false,
      kinds,
      limit: EVENTS,
    })
    const seq =
      events.length < EVENTS
        ? Math.max(head, Number(events.at(-1)?.seq ?? 0))
        : Number(events.at(-1)?.seq)
    const ids = [...new Set(events.flatMap(({ entryId }) => entryId ?? []))]
    const md5s = events
      .filter(({ kind }) => kind === 'note.written')
      .flatMap(event => md5Of(event) ?? [])
    const noted = await entriesOfContents(db, drive.bucketId, [...new Set(md5s)], COPIES + 1)
    const copied = events.filter(bringsMore).flatMap(({ entryId }) => entryId ?? [])
    // So many entries would not fit into one turn, and the next turn would start over. Filling
    // continues where it stopped.
    if (noted.length > COPIES || !(await addBelow(drive, copied))) {
      await restartSearchDrive(db, drive.bucketId, head)
      return true
    }
    const entries = [...(await placedEntries(db, ids)), ...noted].filter(
      ({ bucketId }) => bucketId === drive.bucketId,
    )
    await addEntries(drive, entries)
    await db.transaction(tx =>
      moveSearchDrive(db, drive, { place: null, seq, added: entries.length }, tx),
    )
    return events.length === EVENTS
  }

  /**
   * Runs one step of indexing a drive.
   * @returns whether there may be more
   */
  async function step(drive: SearchDrive): Promise<boolean> {
    if (drive.place === null) return follow(drive)
    await fill(drive)
    return true
  }

  const headOf = async (bucketId: string) => (await endsOf(db, bucketId)).head

  /**
   * Updates the index of drives for the given number of milliseconds.
   * @returns the state of the drives
   */
  async function update(
    bucketIds: readonly string[],
    milliseconds: number,
  ): Promise<SearchDrive[]> {
    const end = performance.now() + milliseconds
    const goOn = () => performance.now() < end
    let drives = await searchDrives(db, bucketIds)
    const known = new Set(drives.map(({ bucketId }) => bucketId))
    const missing = bucketIds.filter(id => !known.has(id))
    for (const id of missing)
      await beginSearchDrive(db, id, { seq: await headOf(id), hasTexts: contents.isOn() })
    if (missing.length > 0) drives = await searchDrives(db, bucketIds)
    for (let open = drives; open.length > 0 && goOn(); ) {
      const next: string[] = []
      for (const drive of open) if (goOn() && (await step(drive))) next.push(drive.bucketId)
      if (next.length === 0) break
      open = await searchDrives(db, next)
    }
    return searchDrives(db, bucketIds)
  }

  /**
   * Updates the index of each drive for a part of the time.
   * @returns whether at least one update succeeded
   */
  async function updateEach(bucketIds: readonly string[], milliseconds: number): Promise<boolean> {
    let isAnyDone = false
    for (const id of bucketIds)
      try {
        await update([id], Math.max(20, milliseconds / bucketIds.length))
        isAnyDone = true
      } catch (error) {
        // The drives after a failed drive still have their turn.
        log.warn(
          { err: error, bucketId: id },
          'could not index a drive for the search; it will be tried again',
        )
      }
    return isAnyDone
  }

  return {
    /**
     * Returns the drives after indexing their latest changes, as far as the given milliseconds
     * allow.
     */
    async fresh(bucketIds: readonly string[], milliseconds: number): Promise<SearchDrive[]> {
      const drives = await searchDrives(db, bucketIds)
      const isFresh = ({ place, head, seq }: SearchDrive) => place === null && head <= seq
      // A large drive is filled in the background. Searches find what is indexed so far.
      const isLarge = ({ place, beganAt }: SearchDrive) =>
        place !== null && Date.now() - beganAt > FILLING_MS
      const settled = new Set(
        drives.filter(drive => isFresh(drive) || isLarge(drive)).map(({ bucketId }) => bucketId),
      )
      const stale = bucketIds.filter(id => !settled.has(id))
      if (stale.length === 0 || isPaused()) return drives
      await update(stale, milliseconds)
      return searchDrives(db, bucketIds)
    },

    /**
     * Does a part of the pending work in drives that are in the index.
     * @param logIds the logs of the drives to update
     * @returns the ids of the drives that made progress and have more work
     */
    async follow(logIds: readonly string[], milliseconds: number): Promise<string[]> {
      if (isPaused()) return []
      const before = new Map((await searchDrives(db, logIds)).map(drive => [drive.bucketId, drive]))
      const ids = [...before.keys()]
      await updateEach(ids, milliseconds)
      const open = (await searchDrives(db, ids)).filter(
        ({ place, head, seq }) => place !== null || head > seq,
      )
      return open.flatMap(({ bucketId, place, seq }) => {
        const was = before.get(bucketId)
        return place === was?.place && seq === was.seq ? [] : [bucketId]
      })
    },

    /**
     * Does a part of the pending work in any drive.
     * @returns whether there is more
     */
    async advance(milliseconds: number): Promise<boolean> {
      if (isPaused()) return false
      const [fresh, unfinished, grown] = [
        await bucketsWithoutIndex(db, 20),
        await unfinishedSearchDrives(db, 5),
        await grownSearchDrives(db, 20),
      ]
      const ids = [...grown, ...unfinished].map(({ bucketId }) => bucketId)
      const all = [...new Set([...ids, ...fresh.map(({ id }) => id)])]
      if (all.length === 0) return false
      // If all drives have failed, the work is not retried immediately.
      return updateEach(all, milliseconds)
    },
  }
}

/** The words under which a note is indexed. */
export function firstWordsOf(note: string): string[] {
  const words = new Set<string>()
  for (const { word } of wordsIn(note)) if (words.add(noteWord(word)).size === NOTE_WORDS) break
  return [...words]
}

function md5Of({ details }: EventRow): string | null {
  const { md5 } = JSON.parse(details) as { md5?: unknown }
  return typeof md5 === 'string' ? md5 : null
}

export type SearchIndexService = ReturnType<typeof searchIndexService>
