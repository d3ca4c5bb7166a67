import { Button } from './button.tsx'
import { X } from './icons.ts'
import { sharedValue } from './shared-value.ts'
import { text } from './text.ts'

export interface Toast {
  message: string
  tone?: 'plain' | 'error'
  /** Undoes the action. */
  undo?: () => void
  /** An alternative action instead of undo. */
  action?: { label: string; run: () => void }
  /** How long the toast stays. Defaults to 6 seconds, or 10 for errors. */
  seconds?: number
}

interface Shown extends Toast {
  id: number
  timer: number
  seconds: number
}

const shown = sharedValue<readonly Shown[]>([])
let ids = 0

function close(id: number): void {
  clearTimeout(shown.get().find(one => one.id === id)?.timer)
  shown.set(shown.get().filter(one => one.id !== id))
}

const closeAfter = (id: number, seconds: number): number =>
  window.setTimeout(() => close(id), seconds * 1000)

/** Keeps the toasts while the pointer or the focus is on them. Then their time starts again. */
function hold(isHeld: boolean): void {
  for (const one of shown.get()) {
    clearTimeout(one.timer)
    if (!isHeld) one.timer = closeAfter(one.id, one.seconds)
  }
}

/**
 * Shows a toast. It replaces the last message or, for errors, the last error. Returns a function
 * that removes it.
 */
export function toast(what: Toast): () => void {
  const id = ++ids
  const isError = what.tone === 'error'
  const seconds = what.seconds ?? (isError ? 10 : 6)
  for (const old of shown.get()) if ((old.tone === 'error') === isError) close(old.id)
  shown.set([...shown.get(), { ...what, id, seconds, timer: closeAfter(id, seconds) }])
  return () => close(id)
}

/**
 * A toast for an operation in progress. Its text changes until the toast is removed or replaced.
 */
export function toastLive(what: Toast): { say: (message: string) => void; end: () => void } {
  const end = toast({ ...what, seconds: 24 * 3600 })
  const id = ids
  const say = (message: string) =>
    shown.set(shown.get().map(one => (one.id === id ? { ...one, message } : one)))
  return { say, end }
}

/** Shows an error with the service's message. */
export const toastError = (error: unknown): void =>
  void toast({ tone: 'error', message: error instanceof Error ? error.message : String(error) })

function undoToast({ id, undo }: Shown): void {
  close(id)
  undo?.()
}

/**
 * Undoes the change of the latest toast, if possible.
 *
 * @returns whether it did
 */
export function undoLatest(): boolean {
  const latest = shown.get().find(({ undo }) => undo)
  if (latest) undoToast(latest)
  return latest !== undefined
}

/**
 * Publishes the height of the toasts, so that open dialogs leave space at the top of the window.
 */
function measure(section: HTMLElement) {
  const observer = new ResizeObserver(() => {
    const { offsetHeight: height } = section
    document.documentElement.style.setProperty(
      '--toasts',
      height > 0 ? `calc(${height}px + 2rem)` : '0px',
    )
  })
  observer.observe(section)
  return () => observer.disconnect()
}

/** The toasts. Ctrl+Z triggers their Undo button. */
export function Toasts() {
  const toasts = shown.use()
  return (
    // A modal dialog hides everything else, unless it is marked as being on top.
    <section
      ref={measure}
      className="toasts"
      aria-label={text('notifications')}
      data-react-aria-top-layer
      onPointerEnter={() => hold(true)}
      onPointerLeave={() => hold(false)}
      onFocus={() => hold(true)}
      onBlur={() => hold(false)}
    >
      <div role="status" className="toast-list">
        {toasts.map(toast => {
          const { id, message, tone = 'plain', undo, action } = toast
          return (
            <div key={id} className={`toast ${tone}`}>
              <p>{message}</p>
              {undo && (
                <Button look="ghost" onPress={() => undoToast(toast)}>
                  {text('undo')}
                </Button>
              )}
              {action && (
                <Button
                  look="ghost"
                  onPress={() => {
                    close(id)
                    action.run()
                  }}
                >
                  {action.label}
                </Button>
              )}
              <Button look="icon" aria-label={text('dismiss')} onPress={() => close(id)}>
                <X />
              </Button>
            </div>
          )
        })}
      </div>
    </section>
  )
}
