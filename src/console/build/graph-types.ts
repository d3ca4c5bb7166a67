import { minifyIntrospectionQuery } from '@urql/introspection'
import { minifyIntrospection, outputIntrospectionFile } from 'gql.tada/internal'
import { buildASTSchema, introspectionFromSchema } from 'graphql'
import type { BriefType } from '../graphql/brief-schema.ts'
import { strictSchema } from './strict-schema.ts'

const introspect = () =>
  introspectionFromSchema(buildASTSchema(strictSchema()), {
    descriptions: false,
    oneOf: true,
  })

/**
 * Generates `graphql/graph-types.d.ts`: schema/schema.graphql as a type, from which gql.tada infers
 * the types of operations.
 */
export const graphTypes = (): string =>
  outputIntrospectionFile(minifyIntrospection(introspect()), {
    fileType: '.d.ts',
    shouldPreprocess: true,
  })

interface Wrapped {
  kind: string
  ofType?: Wrapped
}

/** Nullability marks of a field type, for the cache: one for the field, one for its list items. */
function marksOf(type: Wrapped): string {
  const inner = type.kind === 'NON_NULL' ? type.ofType : type
  const hasNulls = inner?.kind === 'LIST' && inner.ofType?.kind !== 'NON_NULL'
  return `${inner === type ? '?' : ''}${hasNulls ? '*' : ''}`
}

/**
 * The part of the schema that the cache of the console needs at run time, as JSON
 * (graphql/brief-schema.ts).
 */
export function graphForCache(): string {
  const names = (all: readonly { name: string }[]) => all.map(({ name }) => name).join(' ')
  const types = minifyIntrospectionQuery(introspect()).__schema.types.flatMap(
    (type): BriefType[] => {
      if (type.kind === 'UNION') return [[type.kind, type.name, names(type.possibleTypes), '']]
      if (type.kind !== 'OBJECT' && type.kind !== 'INTERFACE') return []
      // The console queries `nodes` of lists. Only search results need their edges.
      if (type.name.endsWith('Edge') && type.name !== 'SearchResultEdge') return []
      const fields = type.fields.map(({ name, type }) => ({
        name,
        marks: marksOf(type as Wrapped),
      }))
      const told = fields.flatMap(({ name, marks }) => (marks ? name + marks : []))
      return [[type.kind, type.name, names(type.interfaces), told.join(' ')]]
    },
  )
  return JSON.stringify(types)
}
