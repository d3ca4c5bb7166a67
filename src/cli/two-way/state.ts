import { mkdirSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { RemoteEntry, RemoteState } from '../sync/remote-tree.ts'
import type { Agreed } from './sides.ts'

/** The saved state of a pair of synced folders. */
export interface Known {
  /** The records of both sides' last agreement, by path. */
  agreed: ReadonlyMap<string, Agreed>
  remote: RemoteState | null
  /** The marker that the local folder must contain; null before the first run. */
  marker: string | null
}

export interface KnownStore {
  read(): Known
  /** Saves atomically. Only changes are written. */
  write(known: Known): void
  /** The latest time reported by the service; 0 if there is none yet. */
  latest(): number
  close(): void
}

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS agreed (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS remote (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS fact (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`

/** Keeps the state in memory, instead of in a file. */
export const IN_MEMORY = ':memory:'

/**
 * Opens the state in a file. An unreadable file is moved aside: both sides are then merged, which
 * deletes nothing.
 */
export function openKnown(file: string): KnownStore {
  if (file === IN_MEMORY) return storeIn(file)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  try {
    return storeIn(file)
  } catch (error) {
    const { code, errcode } = error as { code?: string; errcode?: number }
    // SQLITE_CORRUPT and SQLITE_NOTADB.
    if (code !== 'ERR_SQLITE_ERROR' || (errcode !== 11 && errcode !== 26)) throw error
    for (const end of ['', '-wal', '-shm'])
      try {
        renameSync(file + end, `${file}.damaged${end}`)
      } catch {
        // The file does not exist.
      }
    return storeIn(file)
  }
}

function storeIn(file: string): KnownStore {
  const db = new DatabaseSync(file)
  try {
    db.exec(SCHEMA)
  } catch (error) {
    db.close()
    throw error
  }
  const rows = <T>(table: string): Map<string, T> =>
    new Map(
      db
        .prepare(`SELECT key, value FROM ${table}`)
        .all()
        .map(row => [String(row.key), JSON.parse(String(row.value))]),
    )
  let saved: {
    agreed: ReadonlyMap<string, Agreed>
    remote: ReadonlyMap<string, RemoteEntry>
    facts: Facts
  } = {
    agreed: rows<Agreed>('agreed'),
    remote: rows<RemoteEntry>('remote'),
    facts: Object.fromEntries(rows('fact')),
  }
  let told: number | null = null

  function replace(
    table: string,
    before: ReadonlyMap<string, unknown>,
    now: ReadonlyMap<string, unknown>,
  ): void {
    const put = db.prepare(`INSERT OR REPLACE INTO ${table} (key, value) VALUES (?, ?)`)
    const remove = db.prepare(`DELETE FROM ${table} WHERE key = ?`)
    for (const key of before.keys()) if (!now.has(key)) remove.run(key)
    for (const [key, value] of now)
      if (before.get(key) !== value) put.run(key, JSON.stringify(value))
  }

  return {
    read() {
      const { agreed, remote, facts } = saved
      const { cursor, rootId = null, marker = null } = facts
      const entries = [...remote.values()]
      return { agreed, marker, remote: cursor === undefined ? null : { rootId, cursor, entries } }
    },

    write({ agreed, remote: state, marker }) {
      const remote = new Map((state?.entries ?? []).map(entry => [entry.id, entry]))
      const facts: Facts = {
        marker,
        ...(state ? { cursor: state.cursor, rootId: state.rootId } : {}),
      }
      db.exec('BEGIN IMMEDIATE')
      try {
        replace('agreed', saved.agreed, agreed)
        replace('remote', saved.remote, remote)
        replace('fact', new Map(Object.entries(saved.facts)), new Map(Object.entries(facts)))
        db.exec('COMMIT')
      } catch (error) {
        if (db.isTransaction) db.exec('ROLLBACK')
        throw error
      }
      saved = { agreed, remote, facts }
      told = null
    },

    latest() {
      // Cached, because it is needed for each discarded file.
      told ??= [...saved.remote.values()].reduce(
        (at, { updatedAt }) => Math.max(at, Date.parse(updatedAt) || 0),
        0,
      )
      return told
    },

    close: () => db.close(),
  }
}

interface Facts {
  marker?: string | null
  cursor?: string
  rootId?: string | null
}
