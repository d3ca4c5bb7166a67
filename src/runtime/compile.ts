import {
  type DefinitionNode,
  type DocumentNode,
  GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql'
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit'

/** For each schema, a schema with its mutations as queries. */
const schemas = new WeakMap<GraphQLSchema, GraphQLSchema>()

/**
 * Compiles a document of one operation with graphql-jit. A mutation of one field has no order to
 * keep, and is compiled as a query of that field: the code for several prevents V8 from freeing the
 * objects of a request before a full collection (docs/decisions/libraries.md).
 * @returns the errors of a document that cannot be compiled
 */
export function compile(
  schema: GraphQLSchema,
  document: DocumentNode,
): CompiledQuery | { errors: readonly Error[] } {
  const compiled = document.definitions.some(isOneMutation)
    ? compileQuery(withMutationsAsQueries(schema), {
        ...document,
        definitions: document.definitions.map(d =>
          isOneMutation(d) ? { ...d, operation: OperationTypeNode.QUERY } : d,
        ),
      })
    : compileQuery(schema, document)
  return isCompiledQuery(compiled) ? compiled : { errors: compiled.errors ?? [] }
}

const isOneMutation = (definition: DefinitionNode): definition is OperationDefinitionNode =>
  definition.kind === Kind.OPERATION_DEFINITION &&
  definition.operation === OperationTypeNode.MUTATION &&
  definition.selectionSet.selections.length === 1 &&
  definition.selectionSet.selections[0]?.kind === Kind.FIELD

function withMutationsAsQueries(schema: GraphQLSchema): GraphQLSchema {
  const known = schemas.get(schema)
  if (known) return known
  const made = new GraphQLSchema({
    ...schema.toConfig(),
    query: schema.getMutationType(),
    mutation: null,
  })
  schemas.set(schema, made)
  return made
}
