import { readFileSync } from 'node:fs'
import { minifyIntrospectionQuery } from '@urql/introspection'
import { minifyIntrospection, outputIntrospectionFile } from 'gql.tada/internal'
import { buildSchema, introspectionFromSchema } from 'graphql'

const schema = new URL('../../../schema/schema.graphql', import.meta.url)

const introspect = () =>
  introspectionFromSchema(buildSchema(readFileSync(schema, 'utf8')), { descriptions: false, oneOf: true })

/** `graphql/graph-types.d.ts`: schema/schema.graphql as a type, from which gql.tada reads what an operation answers. */
export const graphTypes = (): string =>
  outputIntrospectionFile(minifyIntrospection(introspect()), { fileType: '.d.ts', shouldPreprocess: true })

type Wrapped = { kind: string; ofType?: Wrapped }

/** Of the type of a field, whether it may be null, and whether it is a list of what may be null. */
const nullability = ({ kind, ofType }: Wrapped): Wrapped =>
  ofType && (kind === 'NON_NULL' || kind === 'LIST') ? { kind, ofType: nullability(ofType) } : { kind: 'SCALAR' }

/** What the cache of the console knows of the schema at run time, as JSON: of a field its name and what of it may be null. */
export function graphForCache(): string {
  const { __schema } = minifyIntrospectionQuery(introspect())
  const types = __schema.types.map(type =>
    'fields' in type
      ? { ...type, fields: type.fields.map(({ name, type }) => ({ name, type: nullability(type as Wrapped) })) }
      : type,
  )
  return JSON.stringify({ __schema: { ...__schema, types } })
}
