import {
  type DocumentNode,
  type ExecutionResult,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { byWord, type Telemetry } from '../telemetry/telemetry.ts'
import { isFailure } from './errors.ts'

interface Label {
  type: string
  field: string
}

interface Known extends Label {
  /** Starts a timer, which records the time by outcome. */
  timer: (outcome: string) => (seconds: number) => void
}

const SEVERAL = 'several'

/** The name of the selected field. Documents are validated, so it is a field of the schema. */
function nameOf(selections: readonly SelectionNode[]): string {
  const [first, ...others] = selections
  if (first?.kind !== Kind.FIELD) return SEVERAL
  const isSame = (other: SelectionNode) =>
    other.kind === Kind.FIELD && other.name.value === first.name.value
  return others.every(isSame) ? first.name.value : SEVERAL
}

/**
 * The type of an operation and its root field, never a name from the client. Most queries read
 * below `me`, so the label includes the field there, too.
 */
function labelOf({
  operation: type,
  selectionSet: { selections },
}: OperationDefinitionNode): Label {
  const root = nameOf(selections)
  const [me] = selections
  if (root !== 'me' || selections.length > 1 || me?.kind !== Kind.FIELD || !me.selectionSet)
    return { type, field: root }
  return { type, field: `me.${nameOf(me.selectionSet.selections)}` }
}

function outcomeOf({ errors }: ExecutionResult): string {
  if (!errors || errors.length === 0) return 'ok'
  return errors.some(isFailure) ? 'failed' : 'refused'
}

/**
 * Measures and traces operations with two plugins.
 * @returns `measured`, which must be first, so that it sees refusals; and `traced`, which must be
 * last, because it wraps the executor
 */
export function observedOperations(telemetry: Telemetry): { measured: Plugin; traced: Plugin } {
  if (!telemetry.isOn) return { measured: {}, traced: {} }
  const timers = byWord(type =>
    byWord(field =>
      byWord(outcome => telemetry.timer('graphqlOperation', { type, field, outcome })),
    ),
  )
  const known = new WeakMap<OperationDefinitionNode, Known>()
  const none: Known = { type: 'none', field: 'none', timer: timers('none')('none') }

  function labelFor({
    document,
    operationName,
  }: {
    document: DocumentNode
    operationName?: string | null
  }): Known {
    const operation = getOperationAST(document, operationName)
    if (!operation) return none
    let found = known.get(operation)
    if (!found) {
      const label = labelOf(operation)
      found = { ...label, timer: timers(label.type)(label.field) }
      known.set(operation, found)
    }
    return found
  }

  return {
    measured: {
      onExecute({ args }) {
        const since = performance.now()
        return {
          onExecuteDone({ result }) {
            if (Symbol.asyncIterator in result) return
            const outcome = outcomeOf(result)
            labelFor(args).timer(outcome)((performance.now() - since) / 1000)
          },
        }
      },
    },
    traced: !telemetry.traces
      ? {}
      : {
          onExecute({ args, executeFn, setExecuteFn }) {
            const { type, field } = labelFor(args)
            const attributes = { 'graphql.operation.type': type }
            setExecuteFn(given =>
              telemetry.span(
                { name: `${type} ${field}`, attributes },
                async () => executeFn(given) as ExecutionResult,
              ),
            )
          },
        },
  }
}
