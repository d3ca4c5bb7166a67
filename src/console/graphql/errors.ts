import type { GraphQLError } from 'graphql'
import type { CombinedError } from 'urql'
import { noSpace } from '../parts/no-space.ts'
import { text } from '../parts/text.ts'
import { underMaintenance } from '../parts/under-maintenance.ts'
import type { graphql } from './graphql.ts'

export type ErrorCode = ReturnType<typeof graphql.scalar<'ErrorCode'>>

/** The code of the first error of a response; undefined if the service was unreachable. */
export const codeOf = (error: CombinedError | undefined): ErrorCode | undefined =>
  error?.graphQLErrors[0]?.extensions.code as ErrorCode | undefined

/** The service's error message, with sizes and times formatted for people. */
export function sentenceOf({
  message,
  extensions: { code, limit, used, max, until },
}: GraphQLError): string {
  if (code === 'MAINTENANCE') return underMaintenance(String(until))
  return String(limit).startsWith('max_total_storage_bytes')
    ? noSpace(Number(used), Number(max))
    : message
}

/**
 * A refused or failed request, with a message for people. The service's own message says what to
 * do.
 */
export class Refused extends Error {
  readonly code: ErrorCode | undefined

  constructor(error: CombinedError) {
    const [refusal] = error.graphQLErrors
    super(refusal ? sentenceOf(refusal) : error.networkError ? text('offline') : error.message)
    this.code = codeOf(error)
  }
}
