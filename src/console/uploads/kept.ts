import { createStore, delMany, set, setMany, values } from 'idb-keyval'
import type { Aim, StoredSession } from '../../upload-engine/job.ts'
import { ofTab } from '../parts/memory.ts'

/** An unfinished upload, as this browser remembers it. */
export interface Kept {
  id: string
  /** The tab that it belongs to. */
  tab: string
  /** The id of the person. */
  person: string
  /** As a `Destination` has them. */
  drive: string
  share?: string | undefined
  aim: Aim
  /**
   * The revision of the file that it gives a new content, if it matters; not there for a new file.
   */
  replaces?: number | 'any' | undefined
  /** Of the file on this computer. */
  name: string
  size: number
  /** Media type, or empty. */
  type: string
  mtimeMs: number
  handle?: FileSystemFileHandle | undefined
  /** Where the file itself is kept in this browser. */
  arrived?: string | undefined
  session?: StoredSession | undefined
  /** Cancelled: its session is to be aborted, not resumed. */
  isCancelled?: boolean | undefined
}

let opened: ReturnType<typeof createStore> | undefined
/**
 * Calls for the store. Some browsers refuse to store anything, in private windows: uploads work
 * then, but do not survive a reload.
 */
async function stored<T>(
  work: (store: ReturnType<typeof createStore>) => Promise<T>,
): Promise<T | undefined> {
  try {
    opened ??= createStore('satchel-uploads', 'uploads')
    return await work(opened)
  } catch {
    return undefined
  }
}

export const keep = (uploads: Kept[]): Promise<void> =>
  stored(store =>
    setMany(
      uploads.map(upload => [upload.id, upload]),
      store,
    ),
  )
export const keepOne = (upload: Kept): Promise<void> =>
  stored(store => set(upload.id, upload, store))
export const forget = (ids: string[]): Promise<void> => stored(store => delMany(ids, store))
const keptUploads = async (): Promise<Kept[]> => (await stored(store => values<Kept>(store))) ?? []

/** Files that are kept in this browser for uploads of any tab. */
export const arrivedForUploads = async (): Promise<Set<string | undefined>> =>
  new Set((await keptUploads()).map(({ arrived }) => arrived))

const TAB = 'satchel.tab'
const lockOf = (tab: string) => `satchel-uploads-${tab}`
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(12)), byte =>
    byte.toString(16).padStart(2, '0'),
  ).join('')

/** Holds a lock until the tab is closed. False if another tab has it. */
const hold = (name: string) =>
  new Promise<boolean>(resolve => {
    navigator.locks
      .request(name, { ifAvailable: true }, lock => {
        resolve(lock !== null)
        return lock ? new Promise(() => {}) : undefined
      })
      // Where nothing may be stored, there is nothing to share either.
      .catch(() => resolve(true))
  })

/** The name of this tab, which it keeps when it loads again. */
async function nameTab(): Promise<string> {
  let tab = ofTab.read(TAB) ?? newId()
  // Without a secure origin there are no locks. A tab that was duplicated has the name of the
  // other.
  if (navigator.locks && !(await hold(lockOf(tab)))) {
    tab = newId()
    await hold(lockOf(tab))
  }
  ofTab.write(TAB, tab)
  return tab
}

let named: Promise<string> | undefined
export const thisTab = (): Promise<string> => {
  named ??= nameTab()
  return named
}

/**
 * Takes over the uploads of a person that no other tab works on, and forgets those that the service
 * has forgotten, too.
 */
export async function adopt(person: string): Promise<Kept[]> {
  const tab = await thisTab()
  const take = () => takeOver(person, tab)
  // Tabs that open together would take the same.
  return (await navigator.locks?.request('satchel-uploads', take).catch(take)) ?? take()
}

async function takeOver(person: string, tab: string): Promise<Kept[]> {
  const all = await keptUploads()
  const locks = (await navigator.locks?.query().catch(() => null))?.held ?? null
  const isOurs = (upload: Kept) =>
    upload.tab === tab || (locks !== null && !locks.some(({ name }) => name === lockOf(upload.tab)))
  const isExpired = ({ session }: Kept) =>
    session !== undefined && Date.parse(session.expiresAt) < Date.now() - 86_400_000
  const adopted = all.filter(upload => upload.person === person && isOurs(upload))
  const rest = adopted.filter(upload => !isExpired(upload)).map(upload => ({ ...upload, tab }))
  await forget(adopted.filter(isExpired).map(({ id }) => id))
  await keep(rest)
  return rest
}
