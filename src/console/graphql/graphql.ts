import { initGraphQLTada } from 'gql.tada'
import type { introspection } from './graph-types.d.ts'

/** Parses an operation or fragment. Its variables and result are typed from the schema. */
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
