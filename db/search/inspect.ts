import { existsSync, rmSync } from 'node:fs'
import { isDamage, SearchFile } from './file.ts'
import { firstRow, idOf } from './row.ts'
import {
  check,
  drivesAfter,
  type IndexedDrive,
  type Position,
  progress,
  restart,
} from './writing.ts'

/* What other programs than the service see of a search index. */

const DRIVES = 100
const ITEMS = 1000

/** A search index that belongs to a database, opened for reading. */
export class SearchInspection {
  readonly #path: string
  readonly #file: SearchFile

  private constructor(path: string) {
    this.#path = path
    this.#file = new SearchFile(path, { isReadOnly: true })
  }

  /** Returns null if there is no index, or one of another database, which is made again. */
  static open(path: string, epoch: string): SearchInspection | null {
    if (!existsSync(path)) return null
    const inspection = new SearchInspection(path)
    if (inspection.#file.epoch() === epoch) return inspection
    inspection.close()
    return null
  }

  progress(): ReturnType<typeof progress> {
    return this.#file.use(null, progress)
  }

  *drives(): Generator<IndexedDrive> {
    for (let after = ''; ; ) {
      const some = this.#file.use(null, file => drivesAfter(file, after, DRIVES))
      yield* some
      if (some.length < DRIVES) return
      after = some.at(-1)?.bucketId ?? ''
    }
  }

  /** The ids of the indexed entries of a drive, in their order. */
  *ids(number: number): Generator<string> {
    const sql = `SELECT row, id FROM item WHERE row > ? AND row < ? ORDER BY row LIMIT ${ITEMS}`
    for (let after = firstRow(number); ; ) {
      const rows = this.#file.use(null, file =>
        file.rows<{ row: bigint; id: Uint8Array }>(sql, [after, firstRow(number + 1)]),
      )
      for (const { id } of rows) yield idOf(id)
      if (rows.length < ITEMS) return
      after = rows.at(-1)?.row ?? after
    }
  }

  /** Makes the service index a drive again. */
  restart(bucketId: string, position: Position): void {
    const file = new SearchFile(this.#path)
    try {
      file.use(null, opened => restart(opened, bucketId, position))
    } finally {
      file.close()
    }
  }

  close(): void {
    this.#file.close()
  }
}

/** Why an index cannot be read; null if it can, or if there is none. */
export function damageOf(path: string): string | null {
  if (!existsSync(path)) return null
  const file = new SearchFile(path, { isReadOnly: true })
  try {
    file.use(null, check)
    return null
  } catch (error) {
    if (!isDamage(error)) throw error
    return error instanceof Error ? error.message : String(error)
  } finally {
    file.close()
  }
}

/** Deletes an index. The service makes it again. */
export function deleteIndex(path: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
}
