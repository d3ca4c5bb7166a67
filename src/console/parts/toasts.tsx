import { X } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { Button } from './button.tsx'
import { text } from './text.ts'

export interface Toast {
  message: string
  tone?: 'plain' | 'error'
  /** Takes back what was done. */
  undo?: () => void
  /** Runs when the toast goes and `undo` was not used, and when the person leaves. */
  settle?: () => void
  /** What can be done about it, instead of undo. */
  action?: { label: string; run: () => void }
  /** How long it stays; 6 seconds without it, an error 10. */
  seconds?: number
}

interface Shown extends Toast {
  id: number
  timer: number
}

let shown: Shown[] = []
let ids = 0
const listeners = new Set<() => void>()

function change(next: Shown[]): void {
  shown = next
  for (const listener of listeners) listener()
}

function close(id: number, how: 'settle' | 'undo' = 'settle'): void {
  const toast = shown.find(one => one.id === id)
  if (!toast) return
  clearTimeout(toast.timer)
  change(shown.filter(one => one.id !== id))
  toast[how]?.()
}

/** Says something at the edge of the screen. Answers what takes it away again. */
export function toast(what: Toast): () => void {
  const id = ++ids
  const seconds = what.seconds ?? (what.tone === 'error' ? 10 : 6)
  const timer = window.setTimeout(() => close(id), seconds * 1000)
  const kept = shown.length > 2 ? shown.slice(-2) : shown
  for (const old of shown.filter(one => !kept.includes(one))) close(old.id)
  change([...kept, { ...what, id, timer }])
  return () => close(id)
}

/** Says what has failed, in the words of the service. */
export const toastError = (error: unknown): void =>
  void toast({ tone: 'error', message: error instanceof Error ? error.message : String(error) })

/** Settles everything that waits to be undone. */
export function settleToasts(): void {
  for (const { id } of shown) close(id)
}

window.addEventListener('pagehide', settleToasts)

/** The toasts, newest last. Ctrl+Z undoes the newest that can be undone. */
export function Toasts() {
  const toasts = useSyncExternalStore(
    listener => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => shown,
  )
  return (
    <section className="toasts" aria-label={text('notifications')}>
      <div role="status" className="toast-list">
        {toasts.map(({ id, message, tone = 'plain', undo, action }) => (
          <div key={id} className={`toast ${tone}`}>
            <p>{message}</p>
            {undo && (
              <Button look="ghost" onPress={() => close(id, 'undo')}>
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
        ))}
      </div>
    </section>
  )
}

/** Undoes the newest toast that can be undone. */
export function undoNewest(): boolean {
  const newest = shown.findLast(({ undo }) => undo)
  if (newest) close(newest.id, 'undo')
  return newest !== undefined
}
