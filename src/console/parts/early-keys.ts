/** How long after the start of the page a key may still wait for the part that listens to it. */
const EARLY_MS = 20_000

let early: { event: KeyboardEvent; at: string }[] = []

/**
 * Remembers shortcuts that are pressed before the part of the page that listens to them is there.
 */
export function keepEarlyKeys(): void {
  const keep = (event: KeyboardEvent) => {
    const isShortcut = event.altKey || event.ctrlKey || event.metaKey
    if (isShortcut && event.target === document.body) early.push({ event, at: location.pathname })
  }
  document.addEventListener('keydown', keep)
  setTimeout(() => {
    document.removeEventListener('keydown', keep)
    early = []
  }, EARLY_MS)
}

/**
 * Passes on the shortcuts that were pressed on this screen and that nothing has handled: a handler
 * calls `preventDefault`.
 */
export function hearEarlyKeys(listen: (event: KeyboardEvent) => void): void {
  for (const { event, at } of early)
    if (at === location.pathname && !event.defaultPrevented) listen(event)
}
