import { type ComponentType, useEffect, useState } from 'react'

/**
 * Fetch attempts per optional part. A blocked request may stay blocked as long as the page is open.
 */
const ATTEMPTS = 5

let fetching = 0

/** Whether an optional part is being fetched. A failed fetch then may be harmless. */
export const isFetchingOptional = (): boolean => fetching > 0

/**
 * A lazily loaded part that the screen works without. A fallback is shown until it has loaded.
 * After a failure, it is fetched again when it is next shown and when the browser comes back
 * online. Firefox before 155 and Safari cache a failed import until the page is reloaded
 * (whatwg/html#10327).
 */
export function optional<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Without: ComponentType<Props>,
): ComponentType<Props> {
  let Part: ComponentType<Props> | undefined
  let failures = 0
  let loading: Promise<void> | undefined

  /** Shared by all components that wait for the part. */
  async function fetchPart(): Promise<void> {
    fetching++
    try {
      Part ??= await load()
    } catch {
      failures++
    }
    fetching--
    loading = undefined
  }

  window.addEventListener('online', () => {
    failures = 0
  })

  return function Optional(props) {
    const [Shown, show] = useState(() => Part)
    useEffect(() => {
      if (Shown) return
      const look = async () => {
        if (failures >= ATTEMPTS) return
        loading ??= fetchPart()
        await loading
        show(() => Part)
      }
      void look()
      window.addEventListener('online', look)
      return () => window.removeEventListener('online', look)
    }, [Shown])
    return Shown ? <Shown {...props} /> : <Without {...props} />
  }
}
