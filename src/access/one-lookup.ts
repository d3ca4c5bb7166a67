/**
 * Makes one lookup of all that ask for the same key in one turn of the event loop. It begins after the last of them has asked, so
 * no request gets an older result: a credential that was revoked before it arrived is refused.
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
