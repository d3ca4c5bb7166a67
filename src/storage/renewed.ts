/** Something that may expire. */
export interface Expiring {
  /** Milliseconds since the epoch; undefined if it never expires. */
  expiresAt?: number | undefined
}

/** A cached credential or key that is renewed before it expires. */
export interface Renewed<T extends Expiring> {
  /**
   * Returns the value. Waits for a renewal only if less than `life` (milliseconds) is left. Also
   * returns a value that expires earlier, so the caller must check `expiresAt`.
   */
  get(life?: number): Promise<T>
  /**
   * Fetches the value again, because a store has refused `refused`. Returns undefined if there is
   * no other value, or if the last such attempt was a moment ago.
   */
  replace(refused: T): Promise<T | undefined>
}

/** A renewal starts this long before the remaining lifetime becomes too short. */
const marginMs = 5 * 60_000
/** The delay after a failed renewal, while the old value still works. */
const pauseMs = 5000
const replaceMs = 30_000
const fetchLimitMs = 20_000

async function limited<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('No response in time.')), fetchLimitMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Caches a value that expires. Renews it in the background while the old value still works, so that
 * requests wait only for the first value.
 * @param refreshMs the age at which a value is renewed, even if it lives longer
 */
export function renewed<T extends Expiring>(
  fetch: () => Promise<T>,
  { refreshMs = Number.POSITIVE_INFINITY }: { refreshMs?: number } = {},
): Renewed<T> {
  let held: { value: T; fetchedAt: number } | undefined
  let renewal: Promise<T> | undefined
  let failedAt = Number.NEGATIVE_INFINITY
  let replacedAt = Number.NEGATIVE_INFINITY

  const renew = (): Promise<T> => {
    renewal ??= limited(fetch())
      .then(
        value => {
          held = { value, fetchedAt: Date.now() }
          return value
        },
        error => {
          failedAt = Date.now()
          throw error
        },
      )
      .finally(() => {
        renewal = undefined
      })
    return renewal
  }

  return {
    async get(life = 0) {
      if (!held) return renew()
      const { value, fetchedAt } = held
      const { expiresAt = Number.POSITIVE_INFINITY } = value
      const now = Date.now()
      const left = expiresAt - now
      const whole = expiresAt - fetchedAt
      // Otherwise, a source with a short lifetime would be queried for each URL.
      const needed = Math.min(life, whole / 2)
      const margin = Math.min(marginMs, whole / 4)
      if (left > needed + margin && now - fetchedAt < refreshMs) return value
      const works = left > 0
      if (works && now - failedAt < pauseMs) return value
      const renewing = renew()
      if (works && left > needed) {
        renewing.catch(() => {})
        return value
      }
      try {
        return await renewing
      } catch (error) {
        if (expiresAt > Date.now()) return value
        throw error
      }
    },

    async replace(refused) {
      if (held && held.value !== refused) return held.value
      if (refused.expiresAt === undefined || Date.now() - replacedAt < replaceMs) return undefined
      replacedAt = Date.now()
      const other = await renew().catch(() => undefined)
      return other === refused ? undefined : other
    },
  }
}
