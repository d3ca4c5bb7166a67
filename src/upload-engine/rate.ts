const WINDOW_MS = 5000
const STEP_MS = 100

/** Measures a rate over the last few seconds. */
export interface Meter {
  add(count: number): void
  /** Per second. */
  rate(): number
}

export function meter(now: () => number = () => performance.now()): Meter {
  const recent: { time: number; count: number }[] = []
  let sum = 0
  return {
    add(count) {
      sum += count
    },
    rate() {
      const time = now()
      if (time - (recent.at(-1)?.time ?? Number.NEGATIVE_INFINITY) > STEP_MS)
        recent.push({ time, count: sum })
      while (recent.length > 2 && time - (recent[0]?.time ?? 0) > WINDOW_MS) recent.shift()
      const [first, last] = [recent[0], recent.at(-1)]
      return first && last && last.time > first.time
        ? Math.max(0, ((last.count - first.count) / (last.time - first.time)) * 1000)
        : 0
    },
  }
}
