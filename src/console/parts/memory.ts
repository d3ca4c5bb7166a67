/**
 * Web storage that may be unavailable. In private windows, or with cookies blocked, nothing is
 * remembered.
 */
const memory = (storage: () => Storage) => ({
  read(key: string): string | null {
    try {
      return storage().getItem(key)
    } catch {
      return null
    }
  },
  write(key: string, value: string): void {
    try {
      storage().setItem(key, value)
    } catch {}
  },
  remove(key: string): void {
    try {
      storage().removeItem(key)
    } catch {}
  },
})

/** Storage of this browser. */
export const ofBrowser = memory(() => localStorage)

/** Storage of this tab; it survives a reload. */
export const ofTab = memory(() => sessionStorage)
