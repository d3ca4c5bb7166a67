import type { Db } from '../../db/index.ts'
import { type Answer, answer } from '../rest/envelope.ts'
import type { BlobStore } from '../storage/azure.ts'

const LIMIT_MS = 2500

async function answers(check: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>(resolve => {
    timer = setTimeout(() => resolve(false), LIMIT_MS)
  })
  try {
    return await Promise.race([check.then(() => true), late])
  } catch {
    return false
  } finally {
    clearTimeout(timer)
  }
}

/** Whether the process lives. */
export const healthz = (): Answer => answer({ status: 200, msg: 'ok', response: { alive: true } })

/** How long an answer serves others who ask: anybody may, and asking costs the database and the store something. */
const FRESH_MS = 500

/** Whether what it needs lives, too; says which part does not. */
export function readyz(db: Db, store: BlobStore): () => Promise<Answer> {
  let known: Promise<Answer> | undefined
  let askedAt = 0
  return () => {
    const now = performance.now()
    if (!known || now - askedAt > FRESH_MS) {
      askedAt = now
      known = ask(db, store)
    }
    return known
  }
}

async function ask(db: Db, store: BlobStore): Promise<Answer> {
  const [database, blobs] = await Promise.all([answers(db.ping()), answers(store.ping())])
  const parts = { database: database ? 'ok' : 'unavailable', blob_store: blobs ? 'ok' : 'unavailable' }
  if (database && blobs) return answer({ status: 200, msg: 'ok', response: parts })
  const down = [database ? '' : 'database', blobs ? '' : 'blob store'].filter(Boolean).join(' and the ')
  return answer(
    { status: 503, msg: `The ${down} does not answer.`, response: { code: 'UNAVAILABLE', ...parts } },
    { 'retry-after': '5' },
  )
}
