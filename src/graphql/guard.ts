import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  type ValidationRule,
  validate,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Context } from '../../schema/context.ts'
import { AppError, InvalidInput } from '../runtime/errors.ts'
import type { createCosts } from './cost.ts'
import { MAX_ERRORS, refusalOf } from './errors.ts'
import { createIntrospection, introspectionOnce } from './introspection.ts'
import { boundedLists, checkLists } from './lists.ts'
import { hasManyPairs } from './pairs.ts'
import type { ServerContext } from './request.ts'

/** graphql-js keeps variables in plain objects, in which this name does not work. */
const ordinaryVariables: ValidationRule = context => ({
  VariableDefinition({ variable }) {
    if (variable.name.value === '__proto__')
      context.reportError(
        new InvalidInput(
          'query',
          'A variable may not be called "__proto__". Give it another name.',
        ),
      )
  },
})

/** Validates a document if its validation time stays proportional to its length. */
const validateFewPairs: typeof validate = (schema, document, rules) =>
  hasManyPairs(document)
    ? [tooManyPairs()]
    : validate(schema, document, rules, { maxErrors: MAX_ERRORS })

const tooManyPairs = () =>
  new InvalidInput(
    'query',
    'This document asks for the same fields too often. Ask for each field once, or for fewer fields at a time.',
  )

interface Arguments {
  contextValue?: Context
  document: DocumentNode
  operationName?: string | null
  variableValues?: Record<string, unknown> | null
}

/**
 * Refuses operations that cost too much before any field is resolved. Reports the maximum cost of
 * each operation, and the limit, in the response's extensions. Serves introspection for tools.
 */
export function guardedExecution(
  schema: GraphQLSchema,
  costOf: ReturnType<typeof createCosts>,
  maxCost: number,
): Plugin<Context, ServerContext> {
  const introspect = createIntrospection(schema)
  const frozen = frozenMutations(schema)
  const extensionsOf = (cost: number) => ({ cost: { cost, maxCost } })

  /** @throws INVALID_INPUT */
  function check(
    { document, variableValues }: Arguments,
    operation: OperationDefinitionNode,
  ): number {
    const variables = variableValues ?? {}
    checkLists(schema, document, operation, variables)
    return costOf(document, operation).of(variables)
  }

  function refusalFor(args: Arguments): { result?: ExecutionResult; cost: number } {
    const operation = getOperationAST(args.document, args.operationName)
    if (!operation) return { cost: 0 }
    try {
      const cost = check(args, operation)
      const { maintenance } = args.contextValue?.services ?? {}
      if (maintenance?.current() && frozen(operation)) maintenance.requireWritable()
      if (cost <= maxCost) return { cost }
      const error = new AppError(
        'INVALID_INPUT',
        `This operation may cost ${cost}; the limit is ${maxCost}. Ask for smaller pages (first), or for fewer fields at a time.`,
        { cost, max_cost: maxCost },
      )
      return {
        cost,
        result: {
          errors: [refusalOf(error, { wellFormed: true })],
          extensions: extensionsOf(cost),
        },
      }
    } catch (error) {
      return { cost: 0, result: { errors: [refusalOf(error, { wellFormed: true })] } }
    }
  }

  return {
    onValidate({ addValidationRule, setValidationFn }) {
      setValidationFn(validateFewPairs)
      for (const rule of [introspectionOnce, boundedLists, ordinaryVariables])
        addValidationRule(rule)
    },
    onExecute({ args, setResultAndStopExecution }) {
      const standard = introspect(args.document, () => extensionsOf(refusalFor(args).cost))
      if (standard) return setResultAndStopExecution(standard)
      const { result, cost } = refusalFor(args)
      if (result) return setResultAndStopExecution(result)
      return {
        onExecuteDone({ result: done, setResult }) {
          if (Symbol.asyncIterator in done) return
          setResult({ ...done, extensions: { ...done.extensions, ...extensionsOf(cost) } })
        },
      }
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const { result } = refusalFor(args)
      if (result) setResultAndStopExecution(result)
    },
  }
}

/**
 * Whether maintenance refuses every field of an operation. Such an operation is not started, so
 * that its response has the right status. Otherwise each field is refused when it is resolved.
 * Fields in fragments count as allowed here.
 */
function frozenMutations(schema: GraphQLSchema): (operation: OperationDefinitionNode) => boolean {
  const fields = schema.getMutationType()?.getFields() ?? {}
  return ({ operation, selectionSet }) =>
    operation === 'mutation' &&
    selectionSet.selections.every(
      selection =>
        selection.kind === Kind.FIELD &&
        fields[selection.name.value]?.extensions.goesOn === undefined,
    )
}
