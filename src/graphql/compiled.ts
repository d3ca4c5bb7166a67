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
 * Compiling takes some milliseconds. This pays for repeated documents, and would help attackers if
 * done for single ones.
 */
const COMPILE_AFTER = 3

/**
 * Compiled code grows with every field of every spread. Larger documents stay with the interpreter.
 */
const MAX_COMPILED_FIELDS = 500

/**
 * Compiles repeated documents and executes the code. The parser's cache returns the same document
 * for the same text.
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
        // graphql-js has the same limit during execution. Compiled code has none.
        const options = { maxErrors: MAX_ERRORS }
        const { errors } = getVariableValues(
          schema,
          definitions,
          args.variableValues ?? {},
          options,
        )
        // Does not stop here, because later hooks of the execution mask the errors.
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
 * Whether compiled code behaves like graphql-js. Compiled code writes plain objects, which lose the
 * name `__proto__`. It applies a default to a missing value of a non-null type, and misses the
 * default in an input. It also reads variables twice, which breaks uploads.
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
