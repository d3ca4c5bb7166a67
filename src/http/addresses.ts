import findMyWay from 'find-my-way'
import { AppError } from '../runtime/errors.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
type Method = (typeof methods)[number]

/** Maps paths and methods to handlers. In a pattern, `:name` matches one path segment. */
export function createAddresses<T>(nothingHere: string) {
  interface Known {
    answering: T
    /** The pattern, with parameter names in braces. */
    pattern: string
  }
  const paths = findMyWay({ maxParamLength: 4096 })

  return {
    on(method: Method, pattern: string, answering: T): void {
      const known: Known = { answering, pattern: pattern.replaceAll(/:(\w+)/g, '{$1}') }
      paths.on(method, pattern, () => {}, known)
    },

    /**
     * A handler of GET also handles HEAD.
     * @throws ROUTE_NOT_FOUND, METHOD_NOT_ALLOWED
     */
    find(method: string, path: string): Known & { params: Record<string, string | undefined> } {
      const found = paths.find((method === 'HEAD' ? 'GET' : method) as Method, path)
      if (found) return { ...(found.store as Known), params: found.params }
      const allow = methods
        .filter(other => paths.find(other, path))
        .flatMap(other => (other === 'GET' ? ['GET', 'HEAD'] : [other]))
      if (allow.length === 0) throw new AppError('ROUTE_NOT_FOUND', nothingHere)
      throw new AppError('METHOD_NOT_ALLOWED', `This URL accepts only ${allow.join(', ')}.`, {
        allow,
      })
    },
  }
}
