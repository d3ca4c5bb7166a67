import type { StoredSession } from '../../upload-engine/job.ts'

/** An unfinished upload, stored in this tab. */
export interface Kept {
  id: string
  /** Properties of the local file. */
  name: string
  size: number
  mtimeMs: number
  /** Media type, or empty. */
  type: string
  session?: StoredSession | undefined
}

/** The stored uploads of this tab to one file request. They survive a reload. */
export function keptIn(place: string) {
  const key = `uploads ${place}`
  let uploads: Kept[] = read()

  function read(): Kept[] {
    // Some browsers refuse to store anything.
    try {
      return JSON.parse(sessionStorage.getItem(key) ?? '[]')
    } catch {
      return []
    }
  }

  function write(changed: Kept[]): void {
    uploads = changed
    try {
      // An upload that the service does not know yet need not be resumed.
      sessionStorage.setItem(key, JSON.stringify(uploads.filter(({ session }) => session)))
    } catch {}
  }

  return {
    all: (): readonly Kept[] => uploads,
    find: (id: string): Kept | undefined => uploads.find(one => one.id === id),
    add: (one: Kept): void => write([...uploads, one]),
    change: (id: string, changes: Partial<Kept>): void =>
      write(uploads.map(one => (one.id === id ? { ...one, ...changes } : one))),
    remove: (id: string): void => write(uploads.filter(one => one.id !== id)),
  }
}
