const QUIET_MS = 100

/** Calls `work` immediately, and then at most ten times a second. */
export function throttle(work: () => void): () => void {
  let isQuiet = false
  let isDue = false
  function call() {
    if (isQuiet) {
      isDue = true
      return
    }
    isQuiet = true
    isDue = false
    setTimeout(() => {
      isQuiet = false
      if (isDue) call()
    }, QUIET_MS)
    work()
  }
  return call
}
