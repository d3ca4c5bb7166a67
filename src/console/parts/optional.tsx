import { type ComponentType, useEffect, useState } from 'react'

/**
 * So often a part is asked for that cannot be fetched; what blocks it may stay for as long as the
 * page.
 */
const ATTEMPTS = 5

let fetching = 0

/** Whether what cannot be fetched now may be a part that a screen can do without. */
export const isFetchingOptional = (): boolean => fetching > 0

/**
 * A part that a screen can do without: until it is there, another stands in its place. What could
 * not be fetched is fetched again when it is shown the next time, and when the browser is online
 * again. Firefox before 155 and Safari answer from memory until the page is reloaded
 * (whatwg/html#10327).
 */
export function optional<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Without: ComponentType<Props>,
): ComponentType<Props> {
  let Part: ComponentType<Props> | undefined
  let failures = 0
  let loading: Promise<void> | undefined

  /** For all that wait for it at a time. */
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
