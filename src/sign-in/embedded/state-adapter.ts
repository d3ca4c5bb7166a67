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

/** Limits the rows per model: anyone can start a sign-in, and each takes a kilobyte. */
const MOST_OF_A_MODEL = 20_000
/** The number of rows that a process writes between two checks of the limit. */
const LOOK_EVERY = 500

/** The lifetime of entries without their own expiry. */
const LONGEST_SECONDS = 3600

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

/**
 * Stores the state of the provider in the database, so that any instance can continue a sign-in.
 * Ids are hashed, because the ids of codes and tokens are secrets. Stores no sessions, so every
 * sign-in asks for credentials.
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
        // Another instance may have consumed the same code at this moment.
        if (!(await consumeSignInState(db, keyOf(id), Date.now())))
          throw new Error('This code has already been used.')
      },
      async destroy(id) {
        await deleteSignInState(db, keyOf(id))
      },
      async revokeByGrantId(grantId) {
        await deleteSignInGrant(db, hashOf(grantId))
      },
      // Only sessions and the device flow need these methods, and neither is supported.
      async findByUid() {},
      async findByUserCode() {},
    }
  }
}

/** Stores nothing. */
export const forgetful: Adapter = {
  async upsert() {},
  async find() {},
  async findByUid() {},
  async findByUserCode() {},
  async consume() {},
  async destroy() {},
  async revokeByGrantId() {},
}
