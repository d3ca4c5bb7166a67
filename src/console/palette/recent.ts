import { useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'
import { type Place, trim } from '../drive/place.ts'
import { ofBrowser } from '../parts/memory.ts'

const KEY = 'satchel.recent'
const KEPT = 6

interface Kept {
  person: string
  places: Place[]
}

const isPlace = (value: unknown): value is Place => {
  const { workspace, path } = (value ?? {}) as Record<string, unknown>
  return typeof path === 'string' && (workspace === null || typeof workspace === 'string')
}

/** The folders that the person visited most recently in this browser, latest first. */
export function readRecent(person: string): Place[] {
  try {
    const kept = JSON.parse(ofBrowser.read(KEY) ?? '') as Partial<Kept>
    return kept.person === person && Array.isArray(kept.places) ? kept.places.filter(isPlace) : []
  } catch {
    // Nothing is stored, or it has an old format.
    return []
  }
}

/** The place that a URL shows; undefined if it is another screen. */
function placeAt(pathname: string): Place | undefined {
  const found = /^(?:\/workspaces\/([^/]+))?\/files(?:\/(.*))?$/.exec(pathname)
  if (!found) return undefined
  const [, slug, path] = found
  try {
    return {
      workspace: slug ? decodeURIComponent(slug) : null,
      path: trim(decodeURIComponent(path ?? '')),
    }
  } catch {
    return undefined
  }
}

/** Remembers visited folders. Data of another person is deleted. */
export function useRecent(person: string): void {
  const { pathname } = useLocation()
  useEffect(() => {
    const place = placeAt(pathname)
    if (!place) return
    const others = readRecent(person).filter(
      ({ workspace, path }) => workspace !== place.workspace || path !== place.path,
    )
    ofBrowser.write(
      KEY,
      JSON.stringify({ person, places: [place, ...others].slice(0, KEPT) } satisfies Kept),
    )
  }, [pathname, person])
}
