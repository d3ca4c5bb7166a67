import type { StoredSession } from '../../upload-engine/job.ts'

/** An unfinished upload, as this tab remembers it. */
export interface Kept {
  id: string
  /** Of the file on this computer. */
  name: string
  size: number
  mtimeMs: number
  /** Media type, or empty. */
  type: string
  session?: StoredSession | undefined
}

/** What this tab remembers of the uploads to one place, when it is loaded again. */
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
      // What the service knows nothing of need not be taken up.
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
