import {
  type DocumentNode,
  type ExecutionArgs,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getVariableValues,
  isInputObjectType,
  isInputType,
  isNonNullType,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql'
import type { CompiledQuery } from 'graphql-jit'
import type { Plugin } from 'graphql-yoga'
import { compile } from '../runtime/compile.ts'
import type { createCosts } from './cost.ts'
import { MAX_ERRORS } from './errors.ts'

/**
 * Compiling costs some milliseconds: worth it for a document that comes back, an attack for one
 * that never does.
 */
const COMPILE_AFTER = 3

/**
 * Code is written for every field of every spread: what would be much of it stays with the
 * interpreter.
 */
const MAX_COMPILED_FIELDS = 500

/**
 * Executes documents that come back with compiled code; the parser's cache hands out the same
 * document for the same text.
 */
export function compiledExecution(
  schema: GraphQLSchema,
  costOf: ReturnType<typeof createCosts>,
): Plugin {
  const seen = new WeakMap<DocumentNode, { times: number; compiled?: CompiledQuery | null }>()
  return {
    onExecute({ args, setExecuteFn }) {
      const document: DocumentNode = args.document
      const known = seen.get(document) ?? { times: 0 }
      known.times++
      seen.set(document, known)
      if (known.times < COMPILE_AFTER) return
      const operation = onlyOperation(document)
      if (!operation) return
      if (known.compiled === undefined) {
        const fits =
          costOf(document, operation).fields <= MAX_COMPILED_FIELDS &&
          isSafe(schema, document, operation)
        const made = fits ? compile(schema, document) : null
        known.compiled = made && 'query' in made ? made : null
      }
      const { compiled } = known
      if (!compiled) return
      const definitions = operation.variableDefinitions ?? []
      if (definitions.length > 0) {
        // graphql-js has the same bound while it executes, compiled code has none.
        const options = { maxErrors: MAX_ERRORS }
        const { errors } = getVariableValues(
          schema,
          definitions,
          args.variableValues ?? {},
          options,
        )
        // Not stopped here: errors are masked by what follows an execution.
        if (errors) return setExecuteFn(() => ({ errors }))
      }
      setExecuteFn((a: ExecutionArgs) =>
        compiled.query(a.rootValue, a.contextValue, a.variableValues),
      )
    },
  }
}

/** A document of several operations would need code for each. */
function onlyOperation({ definitions }: DocumentNode): OperationDefinitionNode | undefined {
  const operations = definitions.filter(definition => definition.kind === 'OperationDefinition')
  return operations.length === 1 ? operations[0] : undefined
}

/**
 * Whether compiled code does what graphql-js does. It writes plain objects, which lose the name
 * `__proto__`; it takes a default for a missing value where the type is non-null, and misses it in
 * an input; and it reads variables a second time, which an upload does not survive.
 */
function isSafe(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): boolean {
  if (document.loc === undefined || document.loc.source.body.includes('__proto__')) return false
  return (operation.variableDefinitions ?? []).every(({ type: node, defaultValue }) => {
    const type = typeFromAST(schema, node)
    return isInputType(type) && !(defaultValue && isNonNullType(type)) && isSafeInput(type)
  })
}

function isSafeInput(type: GraphQLInputType, seen = new Set<GraphQLInputType>()): boolean {
  const named = getNamedType(type)
  if (!isInputObjectType(named)) return named.name !== 'Upload'
  if (seen.has(named)) return true
  seen.add(named)
  return Object.values(named.getFields()).every(
    field =>
      !(field.defaultValue !== undefined && isNonNullType(field.type)) &&
      isSafeInput(field.type, seen),
  )
}
