import { copiesOf, sayCopied } from '../../../drive/copied.ts'
import { createFolder, ensureFolder } from '../../../drive/create-folder.ts'
import { RESTORE } from '../../../drive/documents.ts'
import { nameFrom } from '../../../drive/names.ts'
import { join, nameOf, parentOf, trim } from '../../../drive/place.ts'
import { OPEN_SHARE, SAVE_SHARED } from '../../../drive/shared.ts'
import { ADD_FAVOURITES, REMOVE_FAVOURITES } from '../../../favourites/documents.ts'
import { inParts } from '../../../graphql/in-parts.ts'
import { ask, mutate } from '../../../graphql/run.ts'
import { hide, show } from '../../../listing/held-back.ts'
import { toast, toastError } from '../../../parts/toasts.tsx'
import { clipboard } from '../clipboard.ts'
import { type Entry, isOneFile } from '../documents.ts'
import { COPY, DELETE, DOWNLOAD, MAX_ZIPPED, MOVE, TAKEN, ZIP } from './documents.ts'
import { text } from './text.ts'

/** Browsers drop a download that has not started when the next one begins. */
const DOWNLOADS_APART_MS = 500
/** The most favourites that one request can set. */
const MAX_MARKED = 100

async function fileUrl(id: string) {
  const { node } = await ask(DOWNLOAD, { id, disposition: 'ATTACHMENT' })
  return node?.__typename === 'File' ? node.download : undefined
}

async function zipUrl(entries: readonly Entry[]) {
  const { zipEntries } = await mutate(ZIP, {
    input: { entries: entries.map(({ id }) => ({ id })) },
  })
  return zipEntries?.download
}

async function sharedUrl(token: string, entries: readonly Entry[]) {
  const [first] = entries
  const named =
    entries.length === 1 && first
      ? { path: first.path }
      : { paths: entries.map(({ path }) => path) }
  const { openShare } = await mutate(OPEN_SHARE, { input: { token, ...named } })
  return openShare?.download
}

const idsOf = (entries: readonly Entry[]) => entries.map(({ id }) => id)

/** The drive or share that an action works on. */
export interface Acted {
  /** Id of the drive, or of the share that lets the person edit. */
  id: string
  /** The token of the share. */
  share: string | undefined
  /** Whether deleted entries go to the trash. */
  hasTrash: boolean
}

/**
 * Actions on the entries of a drive or share. A toast shows failures.
 *
 * @param after refetches the list
 * @param whereOf finds the location of an entry if the entries are in several places; each request
 * can only name entries of one place
 */
export function createActions(
  here: Acted,
  after: () => void,
  whereOf: (entry: Entry) => Acted = () => here,
) {
  const { id: drive, share } = here
  const isShared = share !== undefined
  const refOf = (entry: Entry) => {
    const { id: drive, share } = whereOf(entry)
    return share === undefined ? { id: entry.id } : { at: { drive, path: entry.path } }
  }

  /** Runs an action for each place in turn. */
  async function inEach(
    entries: readonly Entry[],
    work: (of: readonly Entry[], where: Acted) => Promise<void>,
  ) {
    for (const group of Map.groupBy(entries, entry => whereOf(entry).id).values())
      if (group[0]) await work(group, whereOf(group[0]))
  }

  async function attempt(work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      toastError(error)
      return false
    } finally {
      after()
    }
  }

  /** @param to path of the folder */
  async function moveTo(entries: readonly Entry[], to: string): Promise<void> {
    for (const part of inParts(entries)) {
      const input = { entries: part.map(refOf), to: { at: { drive, path: to } } }
      await mutate(MOVE, { input, isShared }, { keepalive: true })
    }
  }

  /**
   * Restores items from the trash to their old folders.
   *
   * @param parts each of one drive
   */
  const restore = (parts: readonly string[][]) =>
    attempt(async () => {
      for (const items of parts)
        await mutate(RESTORE, { input: { items, onConflict: 'KEEP_BOTH' } })
    })

  const actions = {
    /**
     * @param folder path of the parent folder
     * @throws Refused, and the error of `nameFrom`
     */
    async createFolder(folder: string, typed: string): Promise<void> {
      await createFolder({ drive, isShared }, folder, typed)
      after()
    },

    /** @throws Refused, and the error of `nameFrom` */
    async rename(entry: Entry, typed: string): Promise<void> {
      const name = nameFrom(typed)
      const rename = async (from: Entry, to: string) => {
        await mutate(MOVE, { input: { entries: [refOf(from)], name: to }, isShared })
      }
      await rename(entry, name).finally(after)
      const renamed = { ...entry, path: join(parentOf(entry.path), name) }
      toast({
        message: text('renamed', { name }),
        undo: () => void attempt(() => rename(renamed, entry.name)),
      })
    },

    /** Moves entries to the folder at a path. The list updates immediately. */
    async move(entries: readonly Entry[], to: string): Promise<void> {
      const moving = entries.filter(({ path }) => parentOf(trim(path)) !== to && trim(path) !== to)
      if (moving.length === 0) return
      const ids = idsOf(moving)
      const froms = Map.groupBy(moving, ({ path }) => parentOf(trim(path)))
      hide(ids)
      const done = await attempt(() => moveTo(moving, to))
      show(ids)
      if (!done) return
      toast({
        message: text('moved', { count: moving.length, folder: nameOf(to) || text('root') }),
        undo: () =>
          void attempt(async () => {
            for (const [from, group] of froms)
              await moveTo(
                group.map(entry => ({ ...entry, path: join(to, entry.name) })),
                from,
              )
          }),
      })
    },

    /**
     * Moves pictures and films into folders by the month in which they were taken. The folders,
     * such as `2024-07`, are in the same folder.
     */
    async moveByMonth(entries: readonly Entry[]): Promise<void> {
      const taken = new Map<string, string>()
      const moves: [from: string, to: string, group: readonly Entry[]][] = []
      const ids = idsOf(entries)
      hide(ids)
      const done = await attempt(async () => {
        for (const part of inParts(ids, MAX_MARKED))
          for (const node of (await ask(TAKEN, { ids: part })).nodes)
            if (node?.__typename === 'File')
              taken.set(node.id, (node.preview?.takenAt ?? node.modifiedAt).slice(0, 7))
        const groups = Map.groupBy(entries, ({ id, path }) => {
          const month = taken.get(id)
          const folder = parentOf(trim(path))
          // It is already in the folder of its month.
          return month && nameOf(folder) !== month ? join(folder, month) : ''
        })
        groups.delete('')
        for (const [to, group] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
          await ensureFolder({ drive, isShared }, parentOf(to), nameOf(to))
          await moveTo(group, to)
          moves.push([parentOf(to), to, group])
        }
      })
      show(ids)
      const count = moves.reduce((sum, [, , group]) => sum + group.length, 0)
      if (!done && count === 0) return
      toast({
        message:
          count > 0 ? text('movedByMonth', { count, folders: moves.length }) : text('noMonths'),
        ...(count > 0 && {
          undo: () =>
            void attempt(async () => {
              for (const [from, to, group] of moves)
                await moveTo(
                  group.map(entry => ({ ...entry, path: join(to, entry.name) })),
                  from,
                )
            }),
        }),
      })
    },

    /** Deletes entries. If the drive has a trash, the toast offers Undo. */
    async remove(entries: readonly Entry[]): Promise<void> {
      const ids = idsOf(entries)
      const hasTrash = entries.every(entry => whereOf(entry).hasTrash)
      const trashed: string[][] = []
      hide(ids)
      const deletion = attempt(() =>
        inEach(entries, async (group, { share }) => {
          for (const part of inParts(group)) {
            const input = { entries: part.map(refOf), recursive: true }
            const { deleteEntries } = await mutate(
              DELETE,
              { input, isShared: share !== undefined },
              { keepalive: true },
            )
            const items = (deleteEntries?.trashItems ?? []).map(({ id }) => id)
            if (items.length > 0) trashed.push(items)
          }
        }),
      )
      const hadLinks = entries.some(entry => entry.shareCount)
      const said = text(hasTrash ? 'trashed' : 'deleted', {
        count: entries.length,
        name: entries[0]?.name ?? '',
      })
      const unsay = toast({
        message: hadLinks ? `${said} ${text('linksEnded')}` : said,
        ...(hasTrash && { undo: () => void deletion.then(() => restore(trashed)) }),
      })
      if (!(await deletion)) unsay()
      show(ids)
    },

    /** Copies entries of any drive to the folder at a path, in this drive or another. */
    async copy(
      entries: readonly Entry[],
      to: string,
      into = drive,
      name = nameOf(to) || text('root'),
    ): Promise<void> {
      const copies: { id: string }[] = []
      const copyPart = async (part: readonly Entry[], { share }: Acted) => {
        const how = { to: { at: { drive: into, path: to } }, onConflict: 'KEEP_BOTH' as const }
        if (share !== undefined) {
          const input = { ...how, token: share, paths: part.map(({ path }) => path) }
          return (await mutate(SAVE_SHARED, { input }, { keepalive: true })).saveSharedEntries
        }
        return (
          await mutate(COPY, { input: { ...how, entries: part.map(refOf) } }, { keepalive: true })
        ).copyEntries
      }
      await attempt(() =>
        inEach(entries, async (group, where) => {
          for (const part of inParts(group)) {
            const made = await copiesOf(await copyPart(part, where))
            if (!made) break
            copies.push(...made)
          }
        }),
      )
      if (copies.length === 0) return
      sayCopied(text('copied', { count: copies.length, folder: name }), copies, after)
    },

    /** Adds or removes favourites. */
    async mark(entries: readonly Entry[], to: boolean): Promise<void> {
      await attempt(async () => {
        for (const part of inParts(entries, MAX_MARKED)) {
          const ids = idsOf(part)
          if (to) await mutate(ADD_FAVOURITES, { input: { entries: ids.map(id => ({ id })) } })
          else await mutate(REMOVE_FAVOURITES, { input: { entries: ids } })
        }
        const [first] = entries
        toast({
          message: text(to ? 'marked' : 'unmarked', {
            count: entries.length,
            name: first?.name ?? '',
          }),
        })
      })
    },

    /** Puts entries on the clipboard. */
    take(entries: readonly Entry[], how: 'move' | 'copy'): void {
      clipboard.set({ drive, entries, how })
      toast({ message: text(how === 'move' ? 'cut' : 'taken', { count: entries.length }) })
    },

    /** Moves or copies the clipboard to the folder at a path. */
    async paste(to: string): Promise<void> {
      const taken = clipboard.get()
      if (!taken) return
      if (taken.how === 'copy' && isShared)
        return void toast({ tone: 'error', message: text('noCopiesHere') })
      if (taken.how === 'copy') return actions.copy(taken.entries, to)
      if (taken.drive !== drive) return void toast({ tone: 'error', message: text('otherDrive') })
      clipboard.set(null)
      await actions.move(taken.entries, to)
    },

    /** Downloads a single file as it is, or one archive for each place. */
    async download(entries: readonly Entry[]): Promise<void> {
      if (entries.length > MAX_ZIPPED)
        return void toast({ tone: 'error', message: text('downloadFewer', { count: MAX_ZIPPED }) })
      let isFirst = true
      await attempt(() =>
        inEach(entries, async (group, { share }) => {
          const ofDrive = () => (isOneFile(group) ? fileUrl(group[0]?.id ?? '') : zipUrl(group))
          const found = await (share === undefined ? ofDrive() : sharedUrl(share, group))
          if (!found) return
          if (!isFirst) await new Promise(resolve => setTimeout(resolve, DOWNLOADS_APART_MS))
          isFirst = false
          const link = document.createElement('a')
          link.href = found.url
          link.download = found.fileName
          link.click()
        }),
      )
    },
  }
  return actions
}

export type Actions = ReturnType<typeof createActions>
