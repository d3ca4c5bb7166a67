import { FILE, FOLDER } from '../../../db/models/entry.ts'
import type { DriveEventKind } from '../../../db/models/event.ts'
import { type NotedText, textBodies, textsNotedAfter } from '../../../db/queries/content-text.ts'
import type { PlacedRow } from '../../../db/queries/entry-list.ts'
import { type EventRow, endsOf, eventOf, eventsOf } from '../../../db/queries/event.ts'
import { notesOf } from '../../../db/queries/note.ts'
import {
  bucketsAfter,
  childrenOfFolders,
  entriesInOrder,
  entriesOfContents,
  existingBuckets,
  filesOfTexts,
  type LogEnd,
  logEnds,
  placedEntries,
  searchEpoch,
  textKeysByBlob,
} from '../../../db/queries/search.ts'
import { inParts } from '../../../db/queries/sql.ts'
import {
  type Doc,
  type IndexedDrive,
  type Item,
  type Move,
  type Position,
  type SearchIndex,
  SearchUnavailable,
  type TextRow,
  textMark,
} from '../../../db/search/index.ts'
import { fileClassOf } from '../../formats/file-class.ts'
import { DAY_MS } from '../../values/duration.ts'
import type { Core } from '../core.ts'
import type { ContentsService } from './search-text.ts'

/** Entries and events per batch. */
const ENTRIES = 500
const EVENTS = 200
const FOLDERS = 50
/** Entries and texts that are written together. */
const ADDED = 250
const TEXTS = 32
/**
 * Files with contents whose note has changed, and entries below copied folders. If there are more,
 * the drive is filled anew, which is done in parts.
 */
const COPIES = 1000
const BELOW = 2000
/** Searches do not wait for a drive that has been filling for longer. */
const FILLING_MS = 3000
/**
 * Texts are read again for this long, because a transaction that began before others may end after
 * them, and because the clocks of instances differ.
 */
const OVERLAP_MS = 5000
const NOTED = 500
/** Parallel searches add the same new texts. In each drive, one succeeds, and others retry. */
const TRIES = 10
/** Drives and indexed entries that are compared with the database at a time. */
const DRIVES = 100
const ITEMS = 500
/** Milliseconds between two warnings that the index cannot be used. */
const WARN_MS = 60_000

/** The events that change the words of an entry in the index. */
const kinds: readonly DriveEventKind[] = [
  'file.created',
  'file.copied',
  'file.moved',
  'file.renamed',
  'file.deleted',
  'file.restored',
  'file.replaced',
  'folder.created',
  'folder.copied',
  'folder.moved',
  'folder.renamed',
  'folder.deleted',
  'folder.restored',
  'version.restored',
  'note.written',
  'note.removed',
]

/** The contents of a copied folder have no events of their own. */
const bringsMore = ({ kind }: EventRow) => kind === 'folder.copied'

/** The drives of a search, and whether the index covers them completely. */
export interface FreshDrives {
  drives: IndexedDrive[]
  isComplete: boolean
}

/**
 * Maintains the search index by following the logs of the drives and the texts of contents, so that
 * changes have no extra cost. A drive is indexed from its first entry on, and then event by event.
 * Several processes may write to the same file: the position of a drive moves in the transaction
 * that adds its words.
 */
export function searchIndexService({
  db,
  log,
  index,
  contents,
  searchContents,
  isPaused,
}: Core<'db' | 'log'> & {
  index: SearchIndex
  contents: ContentsService
  searchContents: boolean
  /** Whether writes are paused. */
  isPaused: () => boolean
}) {
  let itemPlace = 0n
  let bucketPlace = ''
  let warnedAt = 0
  let checkedAt = 0
  /** How far a pass over the latest texts has come, and when it began; null between passes. */
  let pass: { after: NotedText; beganAt: number } | null = null
  /** When the last complete pass over the texts began. */
  let seenAt = 0

  index.belong(async () => {
    itemPlace = 0n
    bucketPlace = ''
    pass = null
    seenAt = 0
    return { epoch: await searchEpoch(db), hasTexts: searchContents }
  })

  /** The index is missing, or cannot be read or written now. */
  function unavailable(error: unknown): void {
    if (!(error instanceof SearchUnavailable)) throw error
    if (Date.now() - warnedAt < WARN_MS) return
    warnedAt = Date.now()
    log.warn({ err: error }, 'the search index cannot be used; it will be tried again')
  }

  interface Known {
    drive: IndexedDrive
    end: LogEnd
  }

  /**
   * The drives in the index that exist, with the ends of their logs; and those without an index.
   */
  async function known(
    bucketIds: readonly string[],
  ): Promise<{ known: Known[]; missing: string[] }> {
    if (bucketIds.length === 0) return { known: [], missing: [] }
    let drives = await index.ask('drives', bucketIds)
    const seqs = new Map(drives.map(({ bucketId, seq }) => [bucketId, seq]))
    const ends = await logEnds(
      db,
      bucketIds.map(bucketId => ({ bucketId, seq: seqs.get(bucketId) ?? 0 })),
    )
    const [{ epoch } = { epoch: index.epoch }] = ends
    if (epoch !== index.epoch) {
      // The index must be rebuilt.
      await index.renew()
      drives = await index.ask('drives', bucketIds)
    }
    const byId = new Map(drives.map(drive => [drive.bucketId, drive]))
    return {
      known: ends.flatMap(end => {
        const drive = byId.get(end.bucketId)
        return drive ? [{ drive, end }] : []
      }),
      missing: ends.flatMap(({ bucketId }) => (byId.has(bucketId) ? [] : [bucketId])),
    }
  }

  /** Whether the log has other events than those that were indexed: an older backup is in use. */
  const isOther = ({ drive, end }: Known): boolean =>
    end.head < drive.seq ||
    (end.stamp !== null && drive.stamp !== null && end.stamp !== drive.stamp)

  const isFresh = (one: Known): boolean =>
    one.drive.place === null && one.end.head === one.drive.seq && !isOther(one)

  async function headOf(bucketId: string): Promise<Position> {
    const { head } = await endsOf(db, bucketId)
    return positionAt(bucketId, head)
  }

  async function positionAt(bucketId: string, seq: number): Promise<Position> {
    return { seq, stamp: (await eventOf(db, bucketId, seq))?.at ?? null }
  }

  async function docsOf(bucketId: string, entries: readonly PlacedRow[]): Promise<Doc[]> {
    const files = entries.filter(({ kind }) => kind === FILE)
    const notes = await notesOf(db, bucketId, [...new Set(files.map(({ md5 }) => md5))])
    const keys = contents.isOn()
      ? await textKeysByBlob(
          db,
          files.flatMap(({ blobId }) => blobId ?? []),
        )
      : new Map<string, string>()
    const bodies = await textBodies(db, [...keys.values()])
    return entries.map(({ id, name, kind, contentType, md5, blobId }) => {
      const key = keys.get(blobId ?? '')
      const body = key && bodies.get(key)
      return {
        id,
        name,
        fileClass: kind === FOLDER ? 'folder' : fileClassOf(name, contentType),
        note: (kind === FILE ? notes.get(md5) : undefined) ?? null,
        text: key && body ? { key, body } : null,
      }
    })
  }

  /** Entries in parts that have few texts. */
  function* parts(entries: readonly PlacedRow[]): Generator<PlacedRow[]> {
    let [some, texts]: [PlacedRow[], number] = [[], 0]
    for (const entry of entries) {
      some.push(entry)
      if (entry.kind === FILE) texts += mayHaveText(entry) ? 1 : 0
      if (some.length < ADDED && texts < TEXTS) continue
      yield some
      some = []
      texts = 0
    }
    yield some
  }

  const mayHaveText = ({ name, contentType, size }: PlacedRow): boolean =>
    contents.isOn() && contents.hasText({ name, fileType: contentType, size })

  /**
   * Indexes entries of a drive.
   * @param from the drive, read before the entries
   * @param moveTo returns how far the drive is indexed with a part of them; null if that is
   *   unchanged
   * @param gone the ids of entries that the drive no longer has
   * @returns whether all were added. Otherwise another addition came first.
   */
  async function addEntries(
    from: IndexedDrive,
    entries: readonly PlacedRow[],
    moveTo: (part: readonly PlacedRow[], isLast: boolean) => Move | null,
    gone: readonly string[] = [],
  ): Promise<boolean> {
    // The root has no name.
    const named = entries.filter(({ name }) => name !== '').sort((a, b) => (a.id < b.id ? -1 : 1))
    const all = [...parts(named)]
    for (const [i, part] of all.entries()) {
      const docs = await docsOf(from.bucketId, part)
      const isLast = i === all.length - 1
      const withText = new Set(docs.filter(({ text }) => text).map(({ id }) => id))
      // A text that is made from now on is found by its time.
      await contents.order(
        part.flatMap(({ id, blobId, name, contentType, size }) =>
          blobId && !withText.has(id) ? [{ blobId, name, fileType: contentType, size }] : [],
        ),
      )
      const own = { ...from, turn: from.turn + i }
      const content = { docs, gone: isLast ? gone : [] }
      const added = await index.ask('add', own, content, moveTo(part, isLast))
      if (added === 'crowded') await index.ask('forget', from)
      if (added !== 'added') return false
    }
    return true
  }

  /** Indexes the next entries of a drive that is not fully indexed. */
  async function fill(drive: IndexedDrive): Promise<void> {
    const rows = await entriesInOrder(db, drive.bucketId, drive.place ?? '', ENTRIES)
    const isEnd = rows.length < ENTRIES
    const { seq, stamp } = drive
    await addEntries(drive, rows, (part, isLast) => ({
      seq,
      stamp,
      place: isLast ? (isEnd ? null : (rows.at(-1)?.id ?? null)) : (part.at(-1)?.id ?? null),
      added: part.length,
    }))
  }

  /**
   * Reads the contents of the given folders, at any depth.
   * @returns null if there are too many
   */
  async function below(folderIds: string[]): Promise<PlacedRow[] | null> {
    const all: PlacedRow[] = []
    let level = folderIds
    while (level.length > 0) {
      const next: string[] = []
      for (const some of inParts(level, FOLDERS)) {
        const children = await childrenOfFolders(db, some, BELOW - all.length + 1)
        all.push(...children)
        if (all.length > BELOW) return null
        next.push(...children.filter(({ kind }) => kind === FOLDER).map(({ id }) => id))
      }
      level = next
    }
    return all
  }

  /** Follows the log of a drive for one batch. */
  async function follow(one: Known): Promise<void> {
    const { drive } = one
    const { bucketId } = drive
    const { head, purged } = await endsOf(db, bucketId)
    // Events were purged before they were read, or a backup was restored.
    if (drive.seq < purged || drive.seq > head || isOther(one)) {
      await index.ask('restart', bucketId, await positionAt(bucketId, head))
      return
    }
    const events = await eventsOf(db, bucketId, {
      after: drive.seq,
      newestFirst: false,
      kinds,
      limit: EVENTS,
    })
    const last = Number(events.at(-1)?.seq ?? 0)
    const seq = events.length < EVENTS ? Math.max(head, last) : last
    const to = { place: null, ...(await positionAt(bucketId, seq)) }
    const ids = [...new Set(events.flatMap(({ entryId }) => entryId ?? []))]
    const md5s = events
      .filter(({ kind }) => kind === 'note.written' || kind === 'note.removed')
      .flatMap(event => md5Of(event) ?? [])
    const noted = await entriesOfContents(db, bucketId, [...new Set(md5s)], COPIES + 1)
    const copied = await below(events.filter(bringsMore).flatMap(({ entryId }) => entryId ?? []))
    // So many entries would not fit into one turn, and the next turn would start over. Filling
    // continues where it stopped.
    if (noted.length > COPIES || copied === null) {
      await index.ask('restart', bucketId, await positionAt(bucketId, head))
      return
    }
    const placed = (await placedEntries(db, ids)).filter(row => row.bucketId === bucketId)
    const there = new Set(placed.map(({ id }) => id))
    const gone = ids.filter(id => !there.has(id))
    const entries = new Map(
      [...placed, ...noted, ...copied]
        .filter(row => row.bucketId === bucketId)
        .map(row => [row.id, row]),
    )
    const added = entries.size
    await addEntries(
      drive,
      [...entries.values()],
      (_, isLast) => (isLast ? { ...to, added } : null),
      gone,
    )
  }

  /** Updates the index of drives for the given number of milliseconds. */
  async function update(
    bucketIds: readonly string[],
    milliseconds: number,
    signal?: AbortSignal,
  ): Promise<void> {
    const end = performance.now() + milliseconds
    const isOver = () => performance.now() >= end || signal?.aborted
    for (let ids = bucketIds; ids.length > 0 && !isOver(); ) {
      const { known: drives, missing } = await known(ids)
      for (const id of missing) await index.ask('begin', id, await headOf(id))
      const open = drives.filter(one => !isFresh(one))
      for (const one of open) {
        if (isOver()) return
        if (one.drive.place === null) await follow(one)
        else await fill(one.drive)
      }
      ids = [...missing, ...open.map(({ drive }) => drive.bucketId)]
    }
  }

  /** Updates the index of the given drives, which share the time equally. */
  async function updateEach(bucketIds: readonly string[], milliseconds: number): Promise<void> {
    for (const id of bucketIds)
      try {
        await update([id], Math.max(20, milliseconds / bucketIds.length))
      } catch (error) {
        if (error instanceof SearchUnavailable) throw error
        // The drives after a failed drive still have their turn.
        log.warn(
          { err: error, bucketId: id },
          'could not index a drive for the search; it will be tried again',
        )
      }
  }

  /**
   * Adds the current texts of files to the index.
   * @returns whether all were added. Otherwise another addition came first.
   */
  async function addTexts(files: readonly { id: string; bucketId: string }[]): Promise<boolean> {
    let isDone = true
    for (const [bucketId, some] of Map.groupBy(files, file => file.bucketId)) {
      // Before the files: a change between both moves the position, so that nothing is added.
      const [drive] = await index.ask('drives', [bucketId])
      const rows = await placedEntries(
        db,
        some.map(({ id }) => id),
      )
      const own = rows.filter(row => row.bucketId === bucketId)
      if (drive && own.length > 0) isDone = (await addEntries(drive, own, () => null)) && isDone
    }
    return isDone
  }

  /** Adds those texts that the index lacks. @returns whether it has all of them */
  async function addLacking(rows: readonly TextRow[]): Promise<boolean> {
    for (let tries = 0; tries < TRIES; tries++) {
      const lacking = rows.length > 0 ? await index.ask('lackingText', rows) : []
      if (lacking.length === 0 || (await addTexts(lacking))) return true
    }
    return false
  }

  /**
   * Indexes the texts that have been made since the last time. A pass that runs out of time
   * continues at the next call, so that it ends however many texts were made in a moment.
   * @returns whether that is all
   */
  async function followTexts(milliseconds: number): Promise<boolean> {
    if (!contents.isOn()) return true
    const end = performance.now() + milliseconds
    const at = await index.ask('textsAt')
    const now = Date.now()
    // A clock may have been set back.
    const since = Math.min(now, Math.max(at, seenAt)) - OVERLAP_MS
    const own = pass ?? { after: { notedAt: since, digest: '' }, beganAt: now }
    for (;;) {
      const noted = await textsNotedAfter(db, own.after, NOTED)
      const keys = [...new Set(noted.map(({ digest }) => digest))]
      for (let after = ''; keys.length > 0; ) {
        const files = await filesOfTexts(db, keys, after, COPIES)
        const rows = files.map(({ id, bucketId, textKey }) => ({ id, bucketId, key: textKey }))
        if (!(await addLacking(rows))) return false
        if (files.length < COPIES) break
        after = files.at(-1)?.id ?? ''
      }
      const last = noted.at(-1)
      if (last && last.notedAt > at) await index.ask('noteTextsAt', last.notedAt)
      if (!last || noted.length < NOTED) {
        pass = null
        seenAt = own.beganAt
        return true
      }
      own.after = last
      pass = own
      if (performance.now() >= end) return false
    }
  }

  return {
    /**
     * Returns the drives after indexing their latest changes, as far as the given milliseconds and
     * the signal allow.
     */
    async fresh(
      bucketIds: readonly string[],
      milliseconds: number,
      signal?: AbortSignal,
    ): Promise<FreshDrives> {
      let drives: Known[] = []
      try {
        const before = await known(bucketIds)
        drives = before.known
        const heads = new Map(drives.map(one => [one.drive.bucketId, one.end.head]))
        // A large drive is filled in the background. Searches find what is indexed so far.
        const isLarge = ({ drive: { place, beganAt } }: Known) =>
          place !== null && Date.now() - beganAt > FILLING_MS
        const stale = drives.filter(one => !isFresh(one) && !isLarge(one))
        const ids = [...before.missing, ...stale.map(({ drive }) => drive.bucketId)]
        let hasTexts = true
        // The first search waits for the threads to start.
        if (ids.length > 0) await index.ask('open')
        const end = performance.now() + milliseconds
        if (!isPaused()) {
          if (ids.length > 0) {
            await update(ids, milliseconds, signal)
            drives = (await known(bucketIds)).known
          }
          hasTexts = await followTexts(Math.max(0, end - performance.now()))
        }
        return {
          drives: drives.map(({ drive }) => drive),
          // A drive that the index does not know yet has no row.
          isComplete:
            hasTexts &&
            drives.length === bucketIds.length &&
            drives.every(one => {
              const { bucketId, place, seq } = one.drive
              return place === null && seq >= (heads.get(bucketId) ?? 0) && !isOther(one)
            }),
        }
      } catch (error) {
        unavailable(error)
        return { drives: drives.map(({ drive }) => drive), isComplete: false }
      }
    },

    /**
     * Does a part of the pending work in drives that are in the index.
     * @param logIds the logs of the drives to update
     * @returns the ids of the drives that made progress and have more work
     */
    async follow(logIds: readonly string[], milliseconds: number): Promise<string[]> {
      if (isPaused()) return []
      try {
        await followTexts(milliseconds)
        const before = new Map(
          (await known(logIds)).known.map(({ drive }) => [drive.bucketId, drive]),
        )
        await updateEach([...before.keys()], milliseconds)
        return (await known([...before.keys()])).known.flatMap(one => {
          const was = before.get(one.drive.bucketId)
          const isSame = one.drive.place === was?.place && one.drive.seq === was.seq
          return isFresh(one) || isSame ? [] : [one.drive.bucketId]
        })
      } catch (error) {
        unavailable(error)
        return []
      }
    },

    /**
     * Does a part of the pending work in any drive.
     * @returns whether there is more
     */
    async advance(milliseconds: number): Promise<boolean> {
      if (isPaused()) return false
      const end = performance.now() + milliseconds
      try {
        while (performance.now() < end) {
          const buckets = await bucketsAfter(db, bucketPlace, DRIVES)
          const ids = buckets.map(({ id }) => id)
          // A service without drives starts no threads.
          if (ids.length > 0 && bucketPlace === '' && !(await followTexts(milliseconds)))
            return true
          const before = await known(ids)
          const open = before.known.filter(one => !isFresh(one)).map(({ drive }) => drive)
          const work = [...before.missing, ...open.map(({ bucketId }) => bucketId)]
          if (work.length > 0) {
            await updateEach(work, Math.max(20, end - performance.now()))
            const after = await known(work)
            const isMoved = ({ drive }: Known) => {
              const was = open.find(({ bucketId }) => bucketId === drive.bucketId)
              return drive.place !== was?.place || drive.seq !== was.seq
            }
            // If all drives have failed, the work is not retried immediately.
            if (after.known.some(one => !isFresh(one) && isMoved(one))) return true
          }
          bucketPlace = ids.at(-1) ?? ''
          if (buckets.length < DRIVES) {
            bucketPlace = ''
            return false
          }
        }
        return true
      } catch (error) {
        unavailable(error)
        return false
      }
    },

    /**
     * Compares some rows of the index with the database: removes entries that are gone, and adds
     * texts that it has missed.
     * @returns whether all rows have been compared
     */
    async sweep(): Promise<boolean> {
      try {
        if (Date.now() - checkedAt > DAY_MS) {
          checkedAt = Date.now()
          await index.check()
        }
        if (itemPlace === 0n) await forgetDrives()
        const items = await index.ask('itemsAfter', itemPlace, ITEMS)
        const rows = new Map(
          (
            await placedEntries(
              db,
              items.map(({ id }) => id),
            )
          ).map(row => [row.id, row]),
        )
        const isGone = ({ id, drive }: Item) =>
          drive === null || rows.get(id)?.bucketId !== drive.bucketId
        const gone = items.filter(isGone)
        if (gone.length > 0) await index.ask('removeItems', gone)
        if (contents.isOn()) {
          const blobIds = [...rows.values()].flatMap(({ blobId }) => blobId ?? [])
          const keys = await textKeysByBlob(db, blobIds)
          const others = items.filter(item => {
            if (isGone(item)) return false
            const { id, mark } = item
            const key = keys.get(rows.get(id)?.blobId ?? '')
            if (key === undefined || mark === null) return (key === undefined) !== (mark === null)
            return Buffer.compare(textMark(key), mark) !== 0
          })
          await addTexts(
            others.flatMap(({ id, drive }) => (drive ? [{ id, bucketId: drive.bucketId }] : [])),
          )
        }
        const isEnd = items.length < ITEMS
        itemPlace = isEnd ? 0n : (items.at(-1)?.row ?? 0n)
        return isEnd
      } catch (error) {
        unavailable(error)
        return true
      }
    },
  }

  /** Forgets drives that are gone. The sweep deletes their rows. */
  async function forgetDrives(): Promise<void> {
    for (let after = ''; ; ) {
      const drives = await index.ask('drivesAfter', after, DRIVES)
      const there = await existingBuckets(
        db,
        drives.map(({ bucketId }) => bucketId),
      )
      for (const drive of drives) if (!there.has(drive.bucketId)) await index.ask('forget', drive)
      if (drives.length < DRIVES) return
      after = drives.at(-1)?.bucketId ?? ''
    }
  }
}

function md5Of({ details }: EventRow): string | null {
  const { md5 } = JSON.parse(details) as { md5?: unknown }
  return typeof md5 === 'string' ? md5 : null
}

export type SearchIndexService = ReturnType<typeof searchIndexService>
