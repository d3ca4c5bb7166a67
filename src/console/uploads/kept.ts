import { createStore, delMany, set, setMany, values } from 'idb-keyval'
import type { Aim, StoredSession } from '../../upload-engine/job.ts'
import { ofTab } from '../parts/memory.ts'

/** An unfinished upload, stored in this browser. */
export interface Kept {
  id: string
  /** The tab that owns the upload. */
  tab: string
  /** Id of the person. */
  person: string
  /** See `Destination`. */
  drive: string
  share?: string | undefined
  aim: Aim
  /** The expected revision of the file to replace, or `any`. Undefined for a new file. */
  replaces?: number | 'any' | undefined
  /** Properties of the local file. */
  name: string
  size: number
  /** Media type, or empty. */
  type: string
  mtimeMs: number
  handle?: FileSystemFileHandle | undefined
  /** Where this browser stores the file itself. */
  arrived?: string | undefined
  session?: StoredSession | undefined
  /** Cancelled: the session must be aborted, not resumed. */
  isCancelled?: boolean | undefined
}

let opened: ReturnType<typeof createStore> | undefined
/**
 * Runs a database request. Some browsers refuse storage in private windows: uploads still work
 * there, but do not survive a reload.
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

/** Cache keys of files that unfinished uploads of any tab still need. */
export const arrivedForUploads = async (): Promise<Set<string | undefined>> =>
  new Set((await keptUploads()).map(({ arrived }) => arrived))

const TAB = 'satchel.tab'
const lockOf = (tab: string) => `satchel-uploads-${tab}`
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(12)), byte =>
    byte.toString(16).padStart(2, '0'),
  ).join('')

/** Holds a lock until the tab closes. Resolves to false if another tab has it. */
const hold = (name: string) =>
  new Promise<boolean>(resolve => {
    navigator.locks
      .request(name, { ifAvailable: true }, lock => {
        resolve(lock !== null)
        return lock ? new Promise(() => {}) : undefined
      })
      // Without storage there is nothing to share, so no lock is needed.
      .catch(() => resolve(true))
  })

/** The id of this tab. It survives a reload. */
async function nameTab(): Promise<string> {
  let tab = ofTab.read(TAB) ?? newId()
  // Insecure origins have no locks. A duplicated tab starts with the id of the original.
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

/** Takes over the person's uploads that no other tab owns, and deletes expired ones. */
export async function adopt(person: string): Promise<Kept[]> {
  const tab = await thisTab()
  const take = () => takeOver(person, tab)
  // The lock prevents two tabs that open together from taking the same uploads.
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
