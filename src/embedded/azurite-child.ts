import { type ExtentStore, sweepLate, writeApart } from './azurite-files.ts'
import {
  type BlobTables,
  dropBlocksWithBlobs,
  findByBestIndex,
  keepTables,
  type Results,
  type Store,
} from './azurite-tables.ts'

/** What is used of Azurite, which speaks no TypeScript. */
interface BlobServer {
  metadataStore: BlobTables
  extentMetadataStore: Store
  extentStore: ExtentStore
  gcManager: { markSweep(): Promise<void> }
  httpServer: import('node:http').Server
  start(): Promise<void>
  close(): Promise<void>
}

/** What Azurite is mended with. */
const mends = { findByBestIndex, keepTables, dropBlocksWithBlobs, writeApart, sweepLate }

/**
 * Runs Azurite's blob server without the command line around it, and mends what an emulator may do and a keeper of files may
 * not: forget what it has acknowledged, get slower with every file, sweep what is in use, lose its way on a full disk.
 */
function serveBlobs(load: NodeJS.Require, mend: typeof mends): void {
  const fs: typeof import('node:fs') = load('node:fs')
  const { join }: typeof import('node:path') = load('node:path')
  const { createRequire }: typeof import('node:module') = load('node:module')
  const [azurite = '', sqlite3 = '', port] = process.argv.slice(1)
  const own = createRequire(join(azurite, 'package.json'))
  const here = (name: string) => join(process.cwd(), name)
  // Nothing may wait for whoever reads this: of many lines at once the first is told.
  let telling = false
  const tell = (line: string) => {
    if (telling) return
    telling = true
    fs.write(2, `${line}\n`, () => {
      telling = false
    })
  }
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

  const loki: { new (name: string): { addCollection(name: string): { chain(): Results } } } = own('lokijs')
  mend.findByBestIndex(Object.getPrototypeOf(new loki('').addCollection('').chain()))

  const location = 'Default'
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
    const flushFiles = mend.keepTables(load, server.extentMetadataStore, tell, async () => {})
    const flush = mend.keepTables(load, server.metadataStore, tell, flushFiles)
    mend.dropBlocksWithBlobs(server.metadataStore)
    mend.writeApart(load, server.extentStore, location, tell, flushFiles)
    mend.sweepLate(server.extentStore, flush, tell)
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
    // What has changed a table is acknowledged when that is on the disk.
    server.httpServer.prependListener('request', ({ method }, response) => {
      if (method === 'GET' || method === 'HEAD') return
      const answer = response.end.bind(response) as (...given: unknown[]) => void
      response.end = ((...given: unknown[]) => {
        flush()
          .then(() => answer(...given))
          .catch(error => {
            tell(String(error))
            response.destroy()
          })
        return response
      }) as typeof response.end
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

/**
 * The program of the process that serves the blobs of the folder it stands in. It is text, so that it is the same from source and
 * compiled: therefore no function in it may use anything from outside of its own braces.
 *
 * Arguments on its command line: the folders of azurite and sqlite3, the port (0: any). Sends its port when it answers.
 */
export const program = `(${serveBlobs})(require, { ${Object.entries(mends).map(([name, mend]) => `${name}: ${mend}`)} })`
