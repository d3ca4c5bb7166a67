/**
 * Makes one lookup of all that ask for the same key in one turn of the event loop. It begins after the last of them has asked, so
 * nobody is told what was true before: what has been revoked by then is revoked.
 */
export function oneLookup<T>(find: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const asked = new Map<string, Promise<T>>()
  return key => {
    const same = asked.get(key)
    if (same) return same
    const found = new Promise<T>((resolve, reject) => {
      setImmediate(() => {
        asked.delete(key)
        find(key).then(resolve, reject)
      })
    })
    asked.set(key, found)
    return found
  }
}
