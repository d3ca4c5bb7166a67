import {
  type DocumentNode,
  type ExecutionResult,
  executeSync,
  type GraphQLSchema,
  getIntrospectionQuery,
  stripIgnoredCharacters,
  type ValidationRule,
} from 'graphql'
import { InvalidInput } from '../runtime/errors.ts'

/** How many standard responses are cached, of some 200 KB each. Tools use different options. */
const KEPT_ANSWERS = 4
/** The maximum length of a standard document in characters. */
const MAX_STANDARD = 8192

/**
 * Refuses a second `__schema` or `__type` in a document. The result is large, and needed only once.
 */
export const introspectionOnce: ValidationRule = context => {
  let seen = 0
  return {
    Field(node) {
      const { value: name } = node.name
      if (name !== '__schema' && name !== '__type') return
      seen++
      if (seen === 2)
        context.reportError(
          new InvalidInput(
            'query',
            'A document may ask for "__schema" or "__type" only once. Send a second request.',
          ),
        )
    },
  }
}

/** The introspection documents that tools use, from each set of options of graphql-js. */
function standardDocuments(): Set<string> {
  const options = [
    'descriptions',
    'specifiedByUrl',
    'directiveIsRepeatable',
    'schemaDescription',
    'inputValueDeprecation',
    'oneOf',
  ]
  const documents = Array.from({ length: 2 ** options.length }, (_, bits) =>
    getIntrospectionQuery(
      Object.fromEntries(options.map((name, i) => [name, Boolean(bits & (1 << i))])),
    ),
  )
  return new Set(documents.map(stripIgnoredCharacters))
}

/** A result that is already serialized. Yoga calls `stringify` of a result. */
interface WrittenResult extends ExecutionResult {
  stringify(): string
}

/** Serves standard introspection documents from cached texts, each created on first use. */
export function createIntrospection(schema: GraphQLSchema) {
  let standard: Set<string> | undefined
  const answers = new Map<string, WrittenResult>()
  const textOf = new WeakMap<DocumentNode, string | null>()

  function standardTextOf(document: DocumentNode): string | null {
    const body = document.loc?.source.body
    // Longer documents are never standard ones, and most documents have no introspection at all.
    if (!body?.includes('IntrospectionQuery') || body.length > MAX_STANDARD) return null
    standard ??= standardDocuments()
    const text = stripIgnoredCharacters(body)
    return standard.has(text) ? text : null
  }

  /** The response to a standard document; undefined for any other. */
  return (
    document: DocumentNode,
    extensions: () => Record<string, unknown>,
  ): WrittenResult | undefined => {
    const known = textOf.get(document)
    const text = known === undefined ? standardTextOf(document) : known
    textOf.set(document, text)
    if (text === null) return undefined
    const before = answers.get(text)
    if (before) return before
    const result = { ...executeSync({ schema, document }), extensions: extensions() }
    const written = JSON.stringify(result)
    const answer = { ...result, stringify: () => written }
    for (const oldest of answers.keys()) if (answers.size >= KEPT_ANSWERS) answers.delete(oldest)
    answers.set(text, answer)
    return answer
  }
}
