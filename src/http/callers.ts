import type { Caller } from '../access/caller.ts'
import type { CallerFinder } from '../access/credential.ts'
import { Unauthenticated } from '../runtime/errors.ts'
import type { Incoming } from './incoming.ts'

/** The ways to find the caller of a request. Each adds the origin of the request. */
export interface Callers {
  /** The caller with any valid credential; null without one. */
  anyone(incoming: Incoming): Promise<Caller | null>
  /**
   * Like `anyone`, but requires a credential.
   * @throws UNAUTHENTICATED
   */
  signedIn(incoming: Incoming): Promise<Caller>
  /** The user of a session; null otherwise. Keys are ignored, because they are for programs. */
  person(incoming: Incoming): Promise<Caller | null>
}

export function createCallers(findCaller: CallerFinder): Callers {
  const anyone: Callers['anyone'] = async incoming => {
    const caller = await findCaller(incoming.req)
    return caller && { ...caller, from: incoming.from }
  }
  return {
    anyone,
    async signedIn(incoming) {
      const caller = await anyone(incoming)
      if (!caller) throw new Unauthenticated()
      return caller
    },
    async person(incoming) {
      const caller = await anyone(incoming)
      return caller?.via === 'session' ? caller : null
    },
  }
}

/** For passages without a caller, or whose handler finds the caller only if needed. */
export const nobody = async (): Promise<null> => null
