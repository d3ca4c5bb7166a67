import { useEffect } from 'react'
import type { MenuEntry } from '../parts/menu.tsx'

export type Offer = Exclude<MenuEntry, 'separator'>

/** How long a screen may take to offer the command that a person went there for. */
const PATIENCE_MS = 20_000

let read: (() => readonly MenuEntry[]) | undefined
let wanted: { id: string; at: string | undefined; until: number } | undefined

/** What can be done on the screen right now. */
export const readOffers = (): Offer[] => (read?.() ?? []).filter(entry => entry !== 'separator')

/** Says, while a screen is shown, what can be done there: the command palette offers it, too. */
export function useOffers(entries: () => readonly MenuEntry[]): void {
  useEffect(() => {
    read = entries
    if (wanted) runOffer(wanted.id, wanted.at, wanted.until)
    return () => {
      if (read === entries) read = undefined
    }
  })
}

/**
 * Does something that a screen offers, as soon as one does.
 * @param at the address of the only place where it is wanted; undefined if that is any
 */
export function runOffer(id: string, at?: string, until = Date.now() + PATIENCE_MS): void {
  const offer = readOffers().find(one => one.id === id)
  wanted = offer || Date.now() > until ? undefined : { id, at, until }
  // This may be called while React draws.
  if (offer) queueMicrotask(offer.run)
}

/**
 * No command is awaited from a screen any longer. @param at only for what is wanted nowhere else
 */
export function forgetWanted(at?: string): void {
  if (at === undefined || wanted?.at === at) wanted = undefined
}
