import type { Caller } from '../../access/caller.ts'
import { isFromOwnPage } from '../../access/origin.ts'
import { Forbidden } from '../../runtime/errors.ts'
import type { PageDeps } from './page-deps.ts'
import type { Visit } from './page-kit.ts'

/** Decides who may open and submit the pages of an account. */
export function accountGate({ services, findCaller, originOf, publicUrl }: PageDeps) {
  const to = (page: string, here: string) => `${page}?${new URLSearchParams({ return_to: here })}`

  /** The signed-in person; null if the response redirects to the sign-in. */
  async function callerOf(visit: Visit): Promise<Caller | null> {
    const { req, address, path } = visit.incoming
    const caller = await findCaller(req)
    if (caller?.via === 'session') return { ...caller, from: originOf(req, address) }
    visit.lead(to('/login', path))
    return null
  }

  /**
   * Like `callerOf`, for a critical change. The form must come from a page of this service, and the
   * person must have confirmed their identity within ten minutes.
   */
  async function changerOf(visit: Visit): Promise<Caller | null> {
    const { req, path } = visit.incoming
    if (!isFromOwnPage(req, publicUrl))
      throw new Forbidden('Send this form from the page of this service.')
    const caller = await callerOf(visit)
    if (!caller || (await services.proofs.isFresh(caller))) return caller
    visit.lead(to('/account/confirm', path))
    return null
  }

  return { callerOf, changerOf }
}
