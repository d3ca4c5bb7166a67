/** What is used of LokiJS, in which Azurite has its tables: neither speaks TypeScript. */
interface Document {
  $loki: number
  [field: string]: unknown
}
interface Collection {
  name: string
  data: Document[]
  idIndex: number[] | null
  maxId: number
  dirty: boolean
  uniqueNames: string[]
  binaryIndices: Record<string, { values: number[] }>
  calculateRange(operator: '$eq', field: string, value: unknown): [first: number, last: number]
  ensureAllIndexes(force: boolean): void
  ensureUniqueIndex(field: string): void
  findAndRemove(query: Query): void
  on(event: 'insert' | 'update' | 'delete', listener: (document: Document) => void): void
}
interface Loki {
  filename: string
  collections: Collection[]
  autosaveInterval: number
  autosaveEnable(): void
  autosaveDisable(): void
  persistenceAdapter: { saveDatabase(file: string, text: string, done: (error?: unknown) => void): void }
}
type Change = [table: string, id: number, document: Document | null]
export interface Store {
  db: Loki
  init(): Promise<void>
}
export interface BlobTables extends Store {
  deleteBlob(context: unknown, account: string, container: string, blob: string, options: Deletion): Promise<void>
}
interface Deletion {
  snapshot?: string
  deleteSnapshots?: 'include' | 'only'
}
type Query = Record<string, unknown> | undefined
export interface Results {
  collection: Collection
  /** Positions in the data of the collection. */
  filteredrows: number[]
  filterInitialized: boolean
  find(query: Query, first?: boolean): unknown
}

// Like all of the child's program these are handed over as text: each may use nothing from outside of its own braces.

/**
 * LokiJS looks into the index of the first field only, which Azurite makes the account: the same for all blobs. The blocks of one blob
 * are many, too; and of those that it finds it would look at all, also for the first.
 */
export function findByBestIndex(results: Results): void {
  const { find } = results
  results.find = function (query = {}, first) {
    const { data, binaryIndices } = this.collection
    const ranges = Object.keys(query).flatMap(field => {
      const index = binaryIndices[field]
      if (!index || typeof query[field] !== 'string' || this.filterInitialized || data.length === 0) return []
      const [from, to] = this.collection.calculateRange('$eq', field, query[field])
      return [{ field, positions: index.values, from, to }]
    })
    const [best] = ranges.sort((a, b) => a.to - a.from - (b.to - b.from))
    if (!best) return find.call(this, query, first)
    const wanted = Object.entries(query)
    if (!first || wanted.some(([, value]) => typeof value === 'object'))
      return find.call(this, { [best.field]: query[best.field], ...query }, first)
    const isWanted = (position: number) => wanted.every(([field, value]) => data[position]?.[field] === value)
    this.filteredrows = []
    this.filterInitialized = true
    for (let at = best.from; at <= best.to && this.filteredrows.length === 0; at++) {
      const position = best.positions[at] ?? 0
      if (isWanted(position)) this.filteredrows.push(position)
    }
    return this
  }
}

/**
 * LokiJS writes its whole tables now and then. In between, each change is in a journal before it is
 * acknowledged; a start reads the tables, then the journals, in which the last word on a document counts.
 * @param first waits until that is on the disk which these tables refer to
 * @returns what waits until all changes so far are on the disk, and rejects when they cannot be for the moment
 */
export function keepTables(
  load: NodeJS.Require,
  store: Store,
  tell: (line: string) => void,
  first: () => Promise<void>,
): () => Promise<void> {
  const fs: typeof import('node:fs') = load('node:fs')
  const { dirname, join }: typeof import('node:path') = load('node:path')
  const { promisify }: typeof import('node:util') = load('node:util')
  const [append, sync, cut] = [promisify(fs.write), promisify(fs.fdatasync), promisify(fs.ftruncate)]
  const { db } = store
  const init = store.init.bind(store)
  const prefix = `${db.filename}.journal.`
  const name = (n: number) => prefix + String(n).padStart(12, '0')
  const folder = dirname(db.filename)
  const journals = () =>
    fs
      .readdirSync(folder)
      .map(file => join(folder, file))
      .filter(file => file.startsWith(prefix))
      .sort()
  let journal = -1
  let count = 0
  /** Changes that may not be on the disk yet. */
  const queue: string[] = []
  /** How many are. */
  let safe = 0
  let writing: Promise<void> | undefined

  const turn = () => {
    journal = fs.openSync(name(count + 1), 'a', 0o600)
    count += 1
  }
  const writeOut = async () => {
    const changes = queue.length
    // One line, so that what goes together is there as a whole or not at all. The newline before it ends what was cut short.
    const bytes = Buffer.from(`\n[${queue.join(',')}]\n`)
    await first()
    const fd = journal
    const before = fs.fstatSync(fd).size
    try {
      for (let at = 0; at < bytes.length; ) at += (await append(fd, bytes, at)).bytesWritten
      await sync(fd)
    } catch (error) {
      // All of it again next time: after a failure nobody knows what is there. Half of it would take up the last room.
      await cut(fd, before).catch(() => {})
      throw error
    }
    queue.splice(0, changes)
    safe += changes
  }
  // Whoever comes while some are being written waits for the next time, together with all the others.
  const flush = async () => {
    for (const wanted = safe + queue.length; safe < wanted; await writing)
      writing ??= writeOut().finally(() => {
        writing = undefined
      })
  }
  const read = (line: string): Change[] => {
    try {
      const changes: Change[] | Change = JSON.parse(line)
      // Older journals have a line for each change.
      return Array.isArray(changes[0]) ? (changes as Change[]) : [changes as Change]
    } catch {
      // The torn end of a journal, after a power cut: it was never acknowledged.
      return []
    }
  }
  const recover = () => {
    const files = journals()
    count = Number(files.at(-1)?.slice(prefix.length) ?? 0)
    const lines = files.flatMap(file => fs.readFileSync(file, 'utf8').split('\n').slice(0, -1))
    if (lines.length === 0) return
    const documents = new Map(db.collections.map(table => [table.name, new Map(table.data.map(d => [d.$loki, d]))]))
    for (const [table, id, document] of lines.flatMap(read)) {
      if (document) documents.get(table)?.set(id, document)
      else documents.get(table)?.delete(id)
    }
    for (const table of db.collections) {
      table.data = [...(documents.get(table.name)?.values() ?? [])].sort((a, b) => a.$loki - b.$loki)
      table.idIndex = table.data.map(document => document.$loki)
      table.maxId = Math.max(table.maxId, table.idIndex.at(-1) ?? 0)
      table.ensureAllIndexes(true)
      for (const field of table.uniqueNames) table.ensureUniqueIndex(field)
      table.dirty = true
    }
  }
  const record = (table: Collection) => {
    // LokiJS goes on as if nothing had been thrown here, so nothing may fail.
    const write = (id: number, document: Document | null) => {
      queue.push(JSON.stringify([table.name, id, document]))
    }
    table.on('insert', document => write(document.$loki, document))
    table.on('update', document => write(document.$loki, document))
    table.on('delete', document => write(document.$loki, null))
    // Of a removal of several, LokiJS tells only where more than one listens.
    table.on('delete', () => {})
  }
  // The tables are on the disk before the journals go that they make superfluous.
  const save = async (file: string, text: string) => {
    const [old, last, underWay] = [journals(), journal, writing]
    turn()
    try {
      // A start may find these tables and the old journals: what those say last must be what the tables say.
      await flush()
      await fs.promises.writeFile(`${file}~`, text, { flush: true, mode: 0o600 })
      await fs.promises.rename(`${file}~`, file)
    } catch (error) {
      await fs.promises.rm(`${file}~`, { force: true })
      throw error
    } finally {
      await underWay?.catch(() => {})
      fs.closeSync(last)
    }
    for (const each of old) await fs.promises.unlink(each)
  }

  store.init = async () => {
    // Azurite saves what it has just read; that would be without the journals.
    db.persistenceAdapter.saveDatabase = (_file, _text, done) => done()
    await init()
    recover()
    turn()
    db.collections.forEach(record)
    db.persistenceAdapter.saveDatabase = (file, text, done) => {
      save(file, text).then(
        () => done(),
        error => {
          tell(`The tables could not be saved: ${error}`)
          // LokiJS takes them for saved.
          for (const table of db.collections) table.dirty = true
          done(error)
        },
      )
    }
    db.autosaveDisable()
    db.autosaveInterval = 30_000
    db.autosaveEnable()
  }
  return flush
}

/** Azurite forgets a blob and keeps its blocks that were never committed: for ever, and for the next blob of that name. */
export function dropBlocksWithBlobs(store: BlobTables): void {
  const deleteBlob = store.deleteBlob.bind(store)
  store.deleteBlob = async (context, account, container, blob, options) => {
    await deleteBlob(context, account, container, blob, options)
    if (options.snapshot || options.deleteSnapshots === 'only') return
    const blocks = store.db.collections.find(({ name }) => name === '$BLOCKS_COLLECTION$')
    blocks?.findAndRemove({ blobName: blob, accountName: account, containerName: container })
  }
}
