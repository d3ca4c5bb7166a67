import { createRequire } from 'node:module'
import type { Db } from '../../db/index.ts'
import { isFull } from '../runtime/errors.ts'
import { within } from '../runtime/within.ts'
import type { BlobStore } from '../storage/store.ts'
import { type Answer, answer } from './envelope.ts'
import type { Phase } from './server.ts'
import { type DoorPlan, doorOf, openPassage } from './threshold.ts'
import { write } from './write.ts'

/** The answer must come within three seconds, also on a busy machine. */
const LIMIT_MS = 2000

/** @returns the fault, as a text that follows the name of the part; undefined if it works */
async function faultOf(check: Promise<void>): Promise<string | undefined> {
  let fault: string | undefined = 'does not answer'
  const noted = check.then(
    () => {
      fault = undefined
    },
    error => {
      if (isFull(error)) fault = 'is full'
    },
  )
  await within(noted, LIMIT_MS)
  return fault
}

const { version }: { version: string } = createRequire(import.meta.url)('#package.json')

/** Liveness and version of the process. */
const healthz = (): Answer => answer({ status: 200, msg: 'ok', response: { alive: true, version } })

/**
 * How long a response is cached. The route is public, and each check uses the database and the
 * store.
 */
const FRESH_MS = 500

/** Readiness: whether the database and the blob store respond, and which of them does not. */
function readyz(db: Db, store: BlobStore, phase: () => Phase): () => Promise<Answer> {
  let known: Promise<Answer> | undefined
  let checkedAt = 0
  return async () => {
    if (phase() !== 'serving')
      return answer(
        { status: 503, msg: `This instance is ${phase()}.`, response: { code: 'UNAVAILABLE' } },
        { 'retry-after': '5' },
      )
    const now = performance.now()
    if (!known || now - checkedAt > FRESH_MS) {
      checkedAt = now
      known = check(db, store)
    }
    return known
  }
}

async function check(db: Db, store: BlobStore): Promise<Answer> {
  const [database, blobs] = await Promise.all([faultOf(db.probe()), faultOf(store.ping())])
  const parts = {
    database: database ? 'unavailable' : 'ok',
    blob_store: blobs ? 'unavailable' : 'ok',
  }
  if (!database && !blobs) return answer({ status: 200, msg: 'ok', response: parts })
  const faults = [database && `The database ${database}.`, blobs && `The blob store ${blobs}.`]
  return answer(
    {
      status: 503,
      msg: faults.filter(Boolean).join(' '),
      response: { code: 'UNAVAILABLE', ...parts },
    },
    { 'retry-after': '5' },
  )
}

/** The health checks. They are also served before the service is ready. */
export function healthDoors(db: Db, store: BlobStore, phase: () => Phase): DoorPlan[] {
  const ready = readyz(db, store, phase)
  const checks = [
    openPassage('/healthz', ({ req, res }) => write(res, req, healthz())),
    openPassage('/readyz', async ({ req, res }) => write(res, req, await ready())),
  ]
  return checks.map(check => ({ ...doorOf(check), always: true }))
}
