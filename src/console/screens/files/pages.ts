import type { CombinedError } from 'urql'
import { client } from '../../graphql/client.ts'
import { type Entry, FOLDER, type FolderData, type FolderVariables } from './documents.ts'

/** Small, so that the first rows are soon there; the others are as large as the service gives. */
const FIRST = 100
const NEXT = 1000

interface Page {
  after: string | null
  entries: readonly Entry[]
  endCursor: string | null
  hasNext: boolean
  loaded: boolean
  stop: () => void
}

/** The entries that are loaded of one list, and whether there are more. */
export interface Listed {
  entries: readonly Entry[]
  hasMore: boolean
  /** Nothing has been answered yet. */
  isLoading: boolean
  error: CombinedError | undefined
  /** The latest answer for the first page: the drive and the folder. */
  data: FolderData | undefined
}

type Base = Omit<FolderVariables, 'first' | 'after'>

const driveOf = (data: FolderData | undefined) => data?.me?.drive ?? data?.workspace?.drive ?? undefined

function connectionOf(data: FolderData | undefined) {
  const drive = driveOf(data)
  const folder = drive?.entry?.__typename === 'Folder' ? drive.entry : undefined
  return drive?.search ?? folder?.entries
}

/**
 * A list that is read page by page, as far as it is looked at. Each page follows the cache. After a change elsewhere the pages
 * are asked again one after the other: where one ends decides where the next one begins.
 */
export class Pages {
  #base: Base
  #pages: Page[] = []
  #listed: Listed = { entries: [], hasMore: false, isLoading: true, error: undefined, data: undefined }
  #listeners = new Set<() => void>()
  #wanted = 1

  constructor(base: Base) {
    this.#base = base
  }

  /** The list is asked for while it has listeners. */
  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) this.#open(0, null)
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      for (const page of this.#pages) page.stop()
    }
  }

  readonly read = (): Listed => this.#listed

  /** Loads the page after the last one. */
  more(): void {
    const last = this.#pages.at(-1)
    if (!last?.loaded || !last.hasNext || this.#wanted > this.#pages.length) return
    this.#wanted = this.#pages.length + 1
    this.#open(this.#pages.length, last.endCursor)
  }

  /** Asks the service again for everything that is loaded. */
  refresh(): void {
    this.#change({ error: undefined })
    this.#open(0, null, true)
  }

  #open(index: number, after: string | null, anew = false): void {
    const old = this.#pages[index]
    old?.stop()
    const page: Page = old
      ? { ...old, after, stop: () => {} }
      : { after, entries: [], endCursor: null, hasNext: false, loaded: false, stop: () => {} }
    this.#pages[index] = page
    const variables = { ...this.#base, first: index === 0 ? FIRST : NEXT, after }
    let asked = anew
    const requestPolicy = anew ? 'network-only' : 'cache-and-network'
    const { unsubscribe } = client.query(FOLDER, variables, { requestPolicy }).subscribe(({ data, error, stale }) => {
      if (error && !data) return this.#change({ error, isLoading: false })
      const connection = connectionOf(data)
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

  /** The page after one that has changed begins where that one ends now. */
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

  #gather(data: FolderData | undefined): void {
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

  #change(change: Partial<Listed>): void {
    this.#listed = { ...this.#listed, ...change }
    for (const listener of this.#listeners) listener()
  }
}
