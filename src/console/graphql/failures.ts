import { type CombinedError, mapExchange, type Operation } from 'urql'

/** The errors of queries whose last request failed. */
const errors = new Map<number, CombinedError>()

/** Notes the failures of requests, below the cache. */
export const noteFailures = mapExchange({
  onResult({ operation, error }) {
    if (operation.kind !== 'query') return
    if (error) errors.set(operation.key, error)
    else errors.delete(operation.key)
  },
})

/** The error of the last request of a query, if it failed. */
export const failureOf = ({ key }: Operation): CombinedError | undefined => errors.get(key)
