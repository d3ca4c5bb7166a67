import type { CombinedError, TypedDocumentNode } from 'urql'
import { client } from './client.ts'

interface Connection<Item> {
  nodes: readonly Item[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}

export interface PageVariables {
  first: number
  after?: string | null
}

/** A paginated list of the graph. */
export interface Source<Item, Data, Variables extends PageVariables> {
  document: TypedDocumentNode<Data, Variables>
  variables: Omit<Variables, keyof PageVariables>
  /** Finds the connection in the result. */
  connectionOf: (data: Data | undefined) => Connection<Item> | null | undefined
  /** Size of the first page: small, so that it arrives soon. */
  first: number
  /** Size of all other pages. */
  next: number
}

interface Page<Item> {
  after: string | null
  entries: readonly Item[]
  endCursor: string | null
  hasNext: boolean
  loaded: boolean
  stop: () => void
}

/** The loaded items of a list, and whether there are more. */
export interface Listed<Item, Data> {
  entries: readonly Item[]
  hasMore: boolean
  /** True until the first result. */
  isLoading: boolean
  error: CombinedError | undefined
  /** The latest result of the first page, including fields outside the list. */
  data: Data | undefined
}

/**
 * A list that loads page by page on demand. Each page follows the cache. After a remote change, the
 * pages are refetched in order, because each page starts at the end cursor of the one before.
 */
export class Pages<Item extends { id: string }, Data, Variables extends PageVariables> {
  #source: Source<Item, Data, Variables>
  #pages: Page<Item>[] = []
  #listed: Listed<Item, Data> = {
    entries: [],
    hasMore: false,
    isLoading: true,
    error: undefined,
    data: undefined,
  }
  #listeners = new Set<() => void>()
  #wanted = 1

  constructor(source: Source<Item, Data, Variables>) {
    this.#source = source
  }

  /** Queries run only while there are listeners. */
  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) this.#open(0, null)
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      for (const page of this.#pages) page.stop()
    }
  }

  readonly read = (): Listed<Item, Data> => this.#listed

  /** Loads the next page. */
  readonly more = (): void => {
    const last = this.#pages.at(-1)
    if (!last?.loaded || !last.hasNext || this.#wanted > this.#pages.length) return
    this.#wanted = this.#pages.length + 1
    this.#open(this.#pages.length, last.endCursor)
  }

  /** Refetches all loaded pages. */
  readonly refresh = (): void => {
    this.#change({ error: undefined })
    this.#open(0, null, true)
  }

  #open(index: number, after: string | null, anew = false): void {
    const old = this.#pages[index]
    old?.stop()
    const page: Page<Item> = old
      ? { ...old, after, stop: () => {} }
      : { after, entries: [], endCursor: null, hasNext: false, loaded: false, stop: () => {} }
    this.#pages[index] = page
    const { document, connectionOf, first, next } = this.#source
    const variables = {
      ...this.#source.variables,
      first: index === 0 ? first : next,
      after,
    } as Variables
    let asked = anew
    const requestPolicy = anew ? 'network-only' : 'cache-and-network'
    const { unsubscribe } = client
      .query(document, variables, { requestPolicy })
      .subscribe(({ data, error, stale }) => {
        const connection = connectionOf(data)
        if (error && !connection) return this.#change({ error, isLoading: false })
        // A partial cache result may lack the list itself.
        if (stale && !connection) return
        page.entries = connection?.nodes ?? []
        page.hasNext = connection?.pageInfo.hasNextPage ?? false
        page.endCursor = connection?.pageInfo.endCursor ?? null
        page.loaded = true
        this.#gather(index === 0 ? data : undefined)
        if (stale) return
        this.#follow(index, asked)
        asked = false
      })
    page.stop = unsubscribe
  }

  /** The next page starts at the new end cursor. */
  #follow(index: number, anew: boolean): void {
    const page = this.#pages[index]
    const next = this.#pages[index + 1]
    if (!page || !next) return
    if (!page.hasNext) {
      for (const gone of this.#pages.splice(index + 1)) gone.stop()
      this.#wanted = this.#pages.length
      this.#gather(undefined)
    } else if (anew || next.after !== page.endCursor) this.#open(index + 1, page.endCursor, anew)
  }

  #gather(data: Data | undefined): void {
    const seen = new Set<string>()
    const entries = this.#pages.flatMap(page =>
      page.entries.filter(({ id }) => {
        const isNew = !seen.has(id)
        seen.add(id)
        return isNew
      }),
    )
    const first = this.#pages[0]
    this.#change({
      entries,
      hasMore: this.#pages.at(-1)?.hasNext ?? false,
      isLoading: !first?.loaded,
      error: undefined,
      ...(data ? { data } : {}),
    })
  }

  #change(change: Partial<Listed<Item, Data>>): void {
    this.#listed = { ...this.#listed, ...change }
    for (const listener of this.#listeners) listener()
  }
}
