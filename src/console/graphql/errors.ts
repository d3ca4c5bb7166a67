import type { CombinedError } from 'urql'
import { text } from '../parts/text.ts'
import type { graphql } from './graphql.ts'

export type ErrorCode = ReturnType<typeof graphql.scalar<'ErrorCode'>>

/** The code of the first error that the service answered; undefined when it was not reached. */
export const codeOf = (error: CombinedError | undefined): ErrorCode | undefined =>
  error?.graphQLErrors[0]?.extensions.code as ErrorCode | undefined

/** A refusal or a failure, as a person may read it: the sentence of the service says what to do. */
export class Refused extends Error {
  readonly code: ErrorCode | undefined

  constructor(error: CombinedError) {
    super(error.graphQLErrors[0]?.message ?? (error.networkError ? text('offline') : error.message))
    this.code = codeOf(error)
  }
}
