import findMyWay from 'find-my-way'
import { AppError } from '../runtime/errors.ts'
import type { Incoming } from './incoming.ts'
import { methodNotAllowed } from './method.ts'
import type { Entrant, Passage } from './threshold.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
type Method = (typeof methods)[number]

/**
 * The passages of a door by path and method. In a pattern, `:name` matches one path segment.
 * @param nothingHere the message for an unknown path
 */
export function createAddresses(nothingHere = 'There is nothing at this URL.') {
  const paths = findMyWay({ maxParamLength: 4096 })

  return {
    on<C extends Entrant | null>(
      method: Method,
      pattern: string,
      passage: Omit<Passage<C>, 'route'>,
    ): void {
      const route = pattern.replaceAll(/:(\w+)/g, '{$1}')
      paths.on(method, pattern, () => {}, { ...passage, route })
    },

    /**
     * The passage of a request, whose parameters are set. A passage of GET also handles HEAD.
     * @param method the method, if the request's own does not count
     * @throws ROUTE_NOT_FOUND, METHOD_NOT_ALLOWED
     */
    find(incoming: Incoming, method = incoming.req.method ?? 'GET'): Passage {
      const { path } = incoming
      const found = paths.find((method === 'HEAD' ? 'GET' : method) as Method, path)
      if (found) {
        incoming.params = found.params
        return found.store as Passage
      }
      const allow = methods
        .filter(other => paths.find(other, path))
        .flatMap(other => (other === 'GET' ? ['GET', 'HEAD'] : [other]))
      if (allow.length === 0) throw new AppError('ROUTE_NOT_FOUND', nothingHere)
      throw methodNotAllowed(allow)
    },
  }
}
