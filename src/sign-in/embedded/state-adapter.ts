import { createHash } from 'node:crypto'
import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider'
import type { Db } from '../../../db/index.ts'
import {
  boundSignInStates,
  consumeSignInState,
  deleteSignInGrant,
  deleteSignInState,
  readSignInState,
  writeSignInState,
} from '../../../db/queries/sign-in-state.ts'

/** Anyone can begin a sign-in, and each takes a kilobyte. */
const MOST_OF_A_MODEL = 20_000
/** Rows of a process between two looks at their number. */
const LOOK_EVERY = 500

/** Of what has no end of its own. */
const LONGEST_SECONDS = 3600

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

/**
 * Keeps the state of the provider in the database, so that any instance can go on with a sign-in.
 * Ids are hashed, because those of codes and tokens are secrets. There are no sessions: every
 * sign-in asks for a proof.
 */
export function createStateAdapter(db: Db): AdapterFactory {
  let written = 0
  return (model): Adapter => {
    const keyOf = (id: string) => hashOf(`${model} ${id}`)
    if (model === 'Session') return forgetful
    return {
      async upsert(id, { jti: _id, ...payload }, expiresIn = LONGEST_SECONDS) {
        const now = Date.now()
        const { grantId } = payload
        await writeSignInState(db, {
          hash: keyOf(id),
          model,
          grantHash: grantId === undefined ? null : hashOf(grantId),
          payload: JSON.stringify(payload),
          createdAt: now,
          expiresAt: now + expiresIn * 1000,
        })
        written++
        if (written % LOOK_EVERY === 0) await boundSignInStates(db, model, MOST_OF_A_MODEL)
      },
      async find(id) {
        const found = await readSignInState(db, keyOf(id), Date.now())
        if (!found) return undefined
        const payload: AdapterPayload = { ...JSON.parse(found.payload), jti: id }
        if (found.consumedAt !== null) payload.consumed = Math.floor(found.consumedAt / 1000)
        return payload
      },
      async consume(id) {
        // Two instances may have found the same code unused.
        if (!(await consumeSignInState(db, keyOf(id), Date.now())))
          throw new Error('This code has been used at the same time.')
      },
      async destroy(id) {
        await deleteSignInState(db, keyOf(id))
      },
      async revokeByGrantId(grantId) {
        await deleteSignInGrant(db, hashOf(grantId))
      },
      // Of sessions and of the device flow, which there are not.
      async findByUid() {},
      async findByUserCode() {},
    }
  }
}

/** Keeps nothing. */
export const forgetful: Adapter = {
  async upsert() {},
  async find() {},
  async findByUid() {},
  async findByUserCode() {},
  async consume() {},
  async destroy() {},
  async revokeByGrantId() {},
}
