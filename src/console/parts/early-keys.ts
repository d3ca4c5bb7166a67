/** How long after page load an early key press is kept. */
const EARLY_MS = 20_000

let early: { event: KeyboardEvent; at: string }[] = []

/** Keeps shortcuts that are pressed before their handlers are loaded. */
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
 * Replays kept shortcuts of this screen that nothing has handled. Handlers call `preventDefault`.
 */
export function hearEarlyKeys(listen: (event: KeyboardEvent) => void): void {
  for (const { event, at } of early)
    if (at === location.pathname && !event.defaultPrevented) listen(event)
}
