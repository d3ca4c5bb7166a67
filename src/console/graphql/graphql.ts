import { initGraphQLTada } from 'gql.tada'
import type { introspection } from './graph-types.d.ts'

/**
 * An operation or a fragment, with the types of what it takes and answers, read from the schema.
 */
export const graphql = initGraphQLTada<{
  introspection: introspection
  disableMasking: true
  scalars: {
    Bytes: number
    DateTime: string
    URL: string
    Upload: File
    Figures: (number | null)[]
  }
}>()

export type { ResultOf } from 'gql.tada'
