import { type FileHandle, open } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'

/** The number of commits after which the log is checkpointed into the file. */
const COMMITS_PER_CHECKPOINT = 64

/**
 * Runs in its own thread with its own connection. A PASSIVE checkpoint neither waits for readers
 * and writers nor blocks them.
 */
const checkpointer = `
const { parentPort, workerData } = require('node:worker_threads')
const { DatabaseSync } = require('node:sqlite')
const db = new DatabaseSync(workerData)
parentPort.on('message', () => {
  try { db.exec('PRAGMA wal_checkpoint(PASSIVE)') } catch {}
  parentPort.postMessage('done')
})`

/**
 * The write-ahead log of a SQLite file. With `synchronous=NORMAL`, SQLite syncs it before a
 * checkpoint only: the file is always consistent, and a commit is durable when the log has been
 * synced (https://sqlite.org/pragma.html#pragma_synchronous). This module syncs it, because SQLite
 * would block the event loop for it, and one sync covers all commits before it.
 */
export function openLog(file: string) {
  let handle: Promise<FileHandle> | undefined
  let failure: Error | undefined
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  let commits = 0
  let syncingSince: number | undefined
  let worker: Worker | undefined
  let checkpointing = false

  async function openHandle(): Promise<FileHandle> {
    handle ??= open(`${file}-wal`)
    try {
      return await handle
    } catch (cause) {
      handle = undefined
      throw Object.assign(
        new Error('SQLITE_CANTOPEN: the log of changes cannot be opened', { cause }),
        {
          code: 'SQLITE_CANTOPEN',
        },
      )
    }
  }

  async function sync(): Promise<void> {
    // Linux reports a failed write once: the next sync succeeds although the pages are lost.
    if (failure) throw failure
    const opened = await openHandle()
    syncingSince = performance.now()
    try {
      await opened.datasync()
    } catch (cause) {
      failure = Object.assign(
        new Error('SQLITE_IOERR: the log of changes cannot be synced', { cause }),
        {
          code: 'SQLITE_IOERR',
        },
      )
      throw failure
    } finally {
      syncingSince = undefined
    }
  }

  function checkpoint(): void {
    if (checkpointing) return
    checkpointing = true
    if (!worker) {
      worker = new Worker(checkpointer, { eval: true, workerData: file })
      worker.on('message', () => {
        checkpointing = false
      })
      // If it fails, the writer's own limit has the same effect.
      worker.on('error', () => {})
      worker.unref()
    }
    worker.postMessage('go')
  }

  return {
    /** Milliseconds since the sync that is running began; 0 if there is none. */
    get waiting(): number {
      return syncingSince === undefined ? 0 : performance.now() - syncingSince
    },
    get isOpen(): boolean {
      return handle !== undefined
    },
    /**
     * Opens the log, if it is not open. Call it before the first write: a write that fails later
     * has been committed, and only a handle from before the write learns of every error of the
     * disk. If it fails, the next call tries again.
     */
    async open(): Promise<void> {
      await openHandle()
    },
    /**
     * @throws the error of a failed sync: it is unknown then which part of the log is on the disk,
     * so no write may follow
     */
    requireIntact(): void {
      if (failure) throw failure
    },
    /** Resolves when all commits so far are on the disk. */
    durable(): Promise<void> {
      if (++commits % COMMITS_PER_CHECKPOINT === 0) checkpoint()
      next ??= (async () => {
        await running?.catch(() => {})
        next = undefined
        running = sync()
        await running
      })()
      return next
    },
    /**
     * Ends the thread, so that the last connection to close belongs to this one, and empties the
     * log.
     */
    async stopCheckpoints(): Promise<void> {
      checkpointing = true
      await worker?.terminate()
    },
    async close(): Promise<void> {
      await handle?.then(
        opened => opened.close(),
        () => {},
      )
    },
  }
}
