/**
 * Some browsers refuse to store anything, in private windows or where cookies are blocked: nothing
 * is remembered then.
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

/** What this browser remembers. */
export const ofBrowser = memory(() => localStorage)

/** What this tab remembers when it is loaded again. */
export const ofTab = memory(() => sessionStorage)
