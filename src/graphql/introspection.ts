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

/**
 * How many answers to standard documents are kept, of some 200 KB each: their options differ from
 * tool to tool.
 */
const KEPT_ANSWERS = 4
/** Characters of a document that may be a standard one. */
const MAX_STANDARD = 8192

/**
 * Refuses a second `__schema` or `__type` in a document: the result is large, and needed only once.
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

/** The documents that tools are built with: what graphql-js makes of each set of options. */
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

/** An answer that is written as one text. Yoga asks a result for `stringify`. */
interface WrittenResult extends ExecutionResult {
  stringify(): string
}

/** Answers the standard documents of introspection from one text each, made at the first time. */
export function createIntrospection(schema: GraphQLSchema) {
  let standard: Set<string> | undefined
  const answers = new Map<string, WrittenResult>()
  const textOf = new WeakMap<DocumentNode, string | null>()

  function standardTextOf(document: DocumentNode): string | null {
    const body = document.loc?.source.body
    // Longer documents cannot be standard ones; most documents have no introspection at all.
    if (!body?.includes('IntrospectionQuery') || body.length > MAX_STANDARD) return null
    standard ??= standardDocuments()
    const text = stripIgnoredCharacters(body)
    return standard.has(text) ? text : null
  }

  /** The answer to a standard document; undefined for any other. */
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
