/** What is used of Azurite and of LokiJS, its table of blobs: neither speaks TypeScript. */
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
interface Store {
  db: Loki
  init(): Promise<void>
}
interface BlobTables extends Store {
  deleteBlob(context: unknown, account: string, container: string, blob: string, options: Deletion): Promise<void>
}
interface Deletion {
  snapshot?: string
  deleteSnapshots?: 'include' | 'only'
}
interface BlobServer {
  metadataStore: BlobTables
  extentMetadataStore: Store
  extentStore: ExtentStore
  gcManager: { markSweep(): Promise<void> }
  httpServer: import('node:http').Server
  start(): Promise<void>
  close(): Promise<void>
}
/** The files that hold the bytes of all blobs, one body behind the other. */
interface ExtentStore {
  /** Those that are still written to: they are not swept. */
  activeWriteExtents: { id: string }[]
  metadataStore: { updateExtent(extent: object): Promise<void> }
  createAppendExtent(locationId: string): { id: string }
  generateExtentPath(locationId: string, id: string): string
  /** Resolves to where the bytes stand. */
  appendExtent(body: import('node:stream').Readable): Promise<{ id: string; offset: number; count: number }>
}
type Query = Record<string, unknown> | undefined
interface Results {
  collection: Collection
  /** Positions in the data of the collection. */
  filteredrows: number[]
  filterInitialized: boolean
  find(query: Query, first?: boolean): unknown
}

/**
 * The program of the process that serves the blobs of the folder it stands in. It is handed over as text, so that it
 * is the same from source and compiled: therefore it may use nothing from outside of its own braces.
 *
 * It runs Azurite's blob server without the command line around it, and mends what an emulator may do and a keeper of
 * files may not: forget what it has acknowledged, get slower with every file, sweep what is in use.
 *
 * Arguments on its command line: the folders of azurite and sqlite3, the port (0: any). Sends its port when it answers.
 */
export function serveBlobs(load: NodeJS.Require): void {
  const fs: typeof import('node:fs') = load('node:fs')
  const { join }: typeof import('node:path') = load('node:path')
  const { createRequire }: typeof import('node:module') = load('node:module')
  const { promisify }: typeof import('node:util') = load('node:util')
  const [write, flush] = [promisify(fs.write), promisify(fs.fdatasync)]
  const [azurite = '', sqlite3 = '', port] = process.argv.slice(1)
  const own = createRequire(join(azurite, 'package.json'))
  const here = (name: string) => join(process.cwd(), name)
  const fail = (message: string) => {
    fs.writeSync(2, `${message}\n`)
    process.exit(1)
  }

  // The channel closes whatever the parent dies of. Signals are for the parent: it drains first, and needs the blobs.
  let end: () => unknown = () => process.exit(0)
  process.once('disconnect', () => end())
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

  // A lock that the kernel lets go of with the process. It is waited for, because the last owner may still be saving.
  const { Database }: typeof import('sqlite3') = load(sqlite3)
  const lock = new Database(here('lock'))
  lock.configure('busyTimeout', 5000)
  const locked = new Promise<void>(done => {
    lock.exec('BEGIN EXCLUSIVE', error => {
      if (error)
        fail('code' in error && error.code === 'SQLITE_BUSY' ? 'another process uses this folder' : error.message)
      done()
    })
  })
  process.on('exit', () => lock.close())

  // Never loaded, so it never phones home; and it would be a third of the start.
  Object.assign(own.cache, { [own.resolve('applicationinsights')]: { exports: {}, loaded: true } })

  // LokiJS looks into the index of the first field only, which Azurite makes the account: the same for all blobs. The blocks of
  // one blob are many, too; and of those that it finds it would look at all, also for the first.
  const loki: { new (name: string): { addCollection(name: string): { chain(): Results } } } = own('lokijs')
  const results: Results = Object.getPrototypeOf(new loki('').addCollection('').chain())
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

  /**
   * LokiJS writes its whole tables now and then. In between, each change is a line of a journal before it is
   * acknowledged; a start reads the tables, then the journals, in which the last word on a document counts.
   */
  const keep = (store: Store) => {
    const { db } = store
    const init = store.init.bind(store)
    const prefix = `${db.filename}.journal.`
    const name = (n: number) => prefix + String(n).padStart(12, '0')
    const journals = () =>
      fs
        .readdirSync('.')
        .map(here)
        .filter(file => file.startsWith(prefix))
        .sort()
    const tables = () => db.collections.filter(table => table.uniqueNames.length === 0)
    let current = -1
    let count = 0

    const turn = () => {
      if (current >= 0) fs.closeSync(current)
      count += 1
      current = fs.openSync(name(count), 'a', 0o600)
    }
    const read = (line: string): [table: string, id: number, document: Document | null] | undefined => {
      try {
        return JSON.parse(line)
      } catch {
        // The torn end of a journal, after a power cut: it was never acknowledged.
        return undefined
      }
    }
    const recover = () => {
      const files = journals()
      count = Number(files.at(-1)?.slice(prefix.length) ?? 0)
      const lines = files.flatMap(file => fs.readFileSync(file, 'utf8').split('\n').slice(0, -1))
      if (lines.length === 0) return
      const documents = new Map(tables().map(table => [table.name, new Map(table.data.map(d => [d.$loki, d]))]))
      for (const line of lines) {
        const [table = '', id = 0, document] = read(line) ?? []
        if (document) documents.get(table)?.set(id, document)
        else documents.get(table)?.delete(id)
      }
      for (const table of tables()) {
        table.data = [...(documents.get(table.name)?.values() ?? [])].sort((a, b) => a.$loki - b.$loki)
        table.idIndex = table.data.map(document => document.$loki)
        table.maxId = Math.max(table.maxId, table.idIndex.at(-1) ?? 0)
        table.ensureAllIndexes(true)
        table.dirty = true
      }
    }
    const record = (table: Collection) => {
      const write = (id: number, document: Document | null) => {
        // The newline before it ends what a full disk may have cut short.
        const line = Buffer.from(`\n${JSON.stringify([table.name, id, document])}\n`)
        if (fs.writeSync(current, line) < line.length) throw new Error('The journal could not be written.')
      }
      table.on('insert', document => write(document.$loki, document))
      table.on('update', document => write(document.$loki, document))
      table.on('delete', document => write(document.$loki, null))
      // Of a removal of several, LokiJS tells only where more than one listens.
      table.on('delete', () => {})
    }
    // The tables are on the disk before the journals go that they make superfluous.
    const save = async (file: string, text: string) => {
      const old = journals()
      turn()
      await fs.promises.writeFile(`${file}~`, text, { flush: true, mode: 0o600 })
      await fs.promises.rename(`${file}~`, file)
      for (const journal of old) await fs.promises.unlink(journal)
    }

    store.init = async () => {
      // Azurite saves what it has just read; that would be without the journals.
      db.persistenceAdapter.saveDatabase = (_file, _text, done) => done()
      await init()
      recover()
      turn()
      tables().forEach(record)
      db.persistenceAdapter.saveDatabase = (file, text, done) => {
        save(file, text).then(() => done(), done)
      }
      db.autosaveDisable()
      db.autosaveInterval = 30_000
      db.autosaveEnable()
    }
  }

  /** Azurite forgets a blob and keeps its blocks that were never committed: for ever, and for the next blob of that name. */
  const dropBlocksWithBlobs = (store: BlobTables) => {
    const deleteBlob = store.deleteBlob.bind(store)
    store.deleteBlob = async (context, account, container, blob, options) => {
      await deleteBlob(context, account, container, blob, options)
      if (options.snapshot || options.deleteSnapshots === 'only') return
      const blocks = store.db.collections.find(({ name }) => name === '$BLOCKS_COLLECTION$')
      blocks?.findAndRemove({ blobName: blob, accountName: account, containerName: container })
    }
  }

  const location = 'Default'
  const fullFile = 64 * 1024 * 1024

  /**
   * Gives each body a file to itself while it comes, of as many as that takes. Azurite has a fixed number, which slow senders can use up.
   * It writes to one of them at once when none is free, loses one that it cannot open, and cuts one back in which it may still be writing.
   */
  const writeApart = (store: ExtentStore) => {
    const files = store.activeWriteExtents
    files.length = 0
    type File = { id: string; fd: number; offset: number }
    const free: File[] = []
    const make = () => {
      const { id } = store.createAppendExtent(location)
      const file = { id, fd: fs.openSync(store.generateExtentPath(location, id), 'a', 0o600), offset: 0 }
      files.push(file)
      return file
    }
    const retire = (file: File) => {
      fs.closeSync(file.fd)
      // A minute later, because what was written last may not be in the table of blobs yet.
      setTimeout(() => files.splice(files.indexOf(file), 1), 60_000).unref()
    }

    const cutBack = (file: File) => {
      try {
        fs.ftruncateSync(file.fd, file.offset)
        free.push(file)
      } catch {
        retire(file)
      }
    }

    store.appendExtent = async body => {
      let file: File | undefined
      try {
        file = free.pop() ?? make()
        const { id, fd, offset } = file
        let count = 0
        for await (const chunk of body.iterator({ destroyOnReturn: false })) {
          for (let from = 0; from < chunk.length; ) from += (await write(fd, chunk, from)).bytesWritten
          count += chunk.length
        }
        await flush(fd)
        const [size, lastModifiedInMS] = [offset + count, Date.now()]
        await store.metadataStore.updateExtent({ id, locationId: location, path: id, size, lastModifiedInMS })
        file.offset = size
        if (size < fullFile) free.push(file)
        else retire(file)
        return { id, offset, count }
      } catch (error) {
        // A body that breaks off names no call of the system.
        if (error instanceof Error && 'syscall' in error) fs.writeSync(2, `${error.message}\n`)
        // A connection whose request nobody reads to its end would be silent to the next one.
        body.resume()
        if (file) cutBack(file)
        throw error
      }
    }
  }

  const azuriteBlob = <T>(path: string): T => own(join(azurite, 'dist/src/blob', path)).default
  const Server = azuriteBlob<new (configuration: object) => BlobServer>('BlobServer')
  const Configuration = azuriteBlob<new (...values: unknown[]) => object>('BlobConfiguration')
  const configuration = new Configuration(
    '127.0.0.1',
    Number(port),
    60,
    here('__azurite_db_blob__.json'),
    here('__azurite_db_blob_extent__.json'),
    [{ locationId: location, locationPath: here('__blobstorage__'), maxConcurrency: 1 }],
    ...[false, undefined, false, undefined, false, true],
  )

  const run = async () => {
    await locked
    const server = new Server(configuration)
    keep(server.metadataStore)
    keep(server.extentMetadataStore)
    dropBlocksWithBlobs(server.metadataStore)
    writeApart(server.extentStore)
    // Closed in the middle of its mark phase, the collector sweeps what it has not marked yet.
    let sweeping: Promise<void> | undefined
    const markSweep = server.gcManager.markSweep.bind(server.gcManager)
    server.gcManager.markSweep = () => {
      sweeping = markSweep()
      return sweeping
    }
    await server.start()
    // A body may come as slowly as its sender sends it.
    server.httpServer.requestTimeout = 0
    // Azurite lets whoever has a signed address to write to copy any blob there. The service's own requests to copy have no query.
    server.httpServer.prependListener('request', ({ url, headers }) => {
      if (url?.includes('?')) delete headers['x-ms-copy-source']
    })
    end = async () => {
      setTimeout(() => process.exit(1), 10_000).unref()
      await sweeping
      await server.close()
      process.exit(0)
    }
    const address = server.httpServer.address()
    process.send?.(typeof address === 'object' ? address?.port : undefined)
  }
  run().catch((error: Error) => fail(error.message))
}
