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

/** What the cache of the console knows of the schema at run time, as JSON. */
export const graphForCache = (): string => JSON.stringify(minifyIntrospectionQuery(introspect()))
