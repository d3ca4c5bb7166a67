import { useEffect } from 'react'
import type { MenuEntry } from '../parts/menu.tsx'

export type Offer = Exclude<MenuEntry, 'separator'>

/** How long to wait for a screen to offer the requested command. */
const PATIENCE_MS = 20_000

let read: (() => readonly MenuEntry[]) | undefined
let wanted: { id: string; at: string | undefined; until: number } | undefined

/** The commands of the current screen. */
export const readOffers = (): Offer[] => (read?.() ?? []).filter(entry => entry !== 'separator')

/** Offers commands in the command palette while a screen is shown. */
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
 * Runs a command as soon as a screen offers it.
 *
 * @param at limits the command to this URL; undefined for any
 */
export function runOffer(id: string, at?: string, until = Date.now() + PATIENCE_MS): void {
  const offer = readOffers().find(one => one.id === id)
  wanted = offer || Date.now() > until ? undefined : { id, at, until }
  // React may be rendering when this runs.
  if (offer) queueMicrotask(offer.run)
}

/**
 * Stops waiting for a command.
 *
 * @param at only if it was requested for this URL
 */
export function forgetWanted(at?: string): void {
  if (at === undefined || wanted?.at === at) wanted = undefined
}
