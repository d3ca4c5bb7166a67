interface Named {
  id: string
}

/** Steps through a source that is sorted by id. Ids must be requested in ascending order. */
export interface Cursor<T> {
  /** The items with this id. Skips items before it. */
  at(id: string): Promise<T[]>
  end(): Promise<void>
}

export function cursorOver<T extends Named>(source: AsyncIterable<T>): Cursor<T> {
  const items = source[Symbol.asyncIterator]()
  let next: T | undefined
  let began = false
  const advance = async () => {
    const { done, value } = await items.next()
    next = done ? undefined : value
  }
  return {
    async at(id) {
      if (!began) await advance()
      began = true
      const found: T[] = []
      for (; next !== undefined && next.id <= id; await advance())
        if (next.id === id) found.push(next)
      return found
    },
    async end() {
      await items.return?.()
    },
  }
}

/** Merges sources that are sorted by id. */
export async function* merged<T extends Named>(sources: AsyncIterable<T>[]): AsyncGenerator<T> {
  const heads = await Promise.all(
    sources.map(async source => {
      const items = source[Symbol.asyncIterator]()
      return { items, head: await items.next() }
    }),
  )
  for (;;) {
    let least: (typeof heads)[number] | undefined
    for (const each of heads)
      if (
        !each.head.done &&
        (!least || least.head.done || each.head.value.id < least.head.value.id)
      )
        least = each
    if (!least || least.head.done) return
    yield least.head.value
    least.head = await least.items.next()
  }
}

/**
 * Batches of at most `count` items and a maximum number of bytes. An item that is larger forms its
 * own batch.
 */
export async function* batches<T extends { size: number }>(
  source: AsyncIterable<T>,
  { count, bytes }: { count: number; bytes: number },
): AsyncGenerator<T[]> {
  let some: T[] = []
  let sum = 0
  for await (const item of source) {
    if (some.length > 0 && (some.length === count || sum + item.size > bytes)) {
      yield some
      some = []
      sum = 0
    }
    some.push(item)
    sum += item.size
  }
  if (some.length > 0) yield some
}
