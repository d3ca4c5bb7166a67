import { parentPort, workerData } from 'node:worker_threads'
import { SqliteConnection, SqliteError } from './sqlite-driver.ts'
import type { Answer, Question } from './sqlite-thread.ts'

/* The thread that runs the statements of one connection to a SQLite file. */

const port = parentPort
const connection = new SqliteConnection(workerData as string, 0, () => {})

function failed(id: number, thrown: unknown): Answer {
  const { message } = thrown as Error
  return thrown instanceof SqliteError ? { id, code: thrown.code, message } : { id, message }
}

port?.on('message', ({ id, kind, sql, values }: Question) => {
  const before = connection.writes
  const send = (answer: Answer) =>
    port.postMessage({ ...answer, wrote: connection.writes !== before } satisfies Answer)
  try {
    if (kind === 'close') connection.close(() => send({ id }))
    else if (kind === 'rows') send({ id, rows: connection.rows(sql, values) })
    else if (kind === 'write') send({ id, changes: connection.write(sql, values) })
    else
      connection[kind](sql, values, function (error, rows) {
        const { changes, lastID } = this
        if (error) send(failed(id, error))
        else send({ id, changes, lastID, ...(rows ? { rows } : {}) })
      })
  } catch (error) {
    send(failed(id, error))
  }
})
