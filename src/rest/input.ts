import {
  type GraphQLArgument,
  type GraphQLInputType,
  GraphQLList,
  getNullableType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isScalarType,
} from 'graphql'
import { longListOf } from '../../schema/plugins/list-bound.ts'
import { AppError, InvalidInput } from '../runtime/errors.ts'
import { excerpt } from '../values/excerpt.ts'
import { markUndecoded } from '../values/paths.ts'
import type { Upload } from '../values/upload.ts'
import type { Route } from './routes.ts'

/** The parts of a request that arguments come from. */
export interface RequestParts {
  path: Record<string, string | undefined>
  query: URLSearchParams
  /** The URL with its query, as sent by the client. */
  address: string
  /** Undefined for a route without a body. */
  body: Record<string, unknown> | undefined
  form: Record<string, unknown> | undefined
  /** The raw body, if the route takes one. */
  raw: Upload | undefined
  header: (name: string) => string | undefined
}

export type InputReader = (parts: RequestParts) => Record<string, unknown>

/**
 * Creates the reader of a route's arguments from the types of its field. The reader reports the
 * exact fault of an input before the operation runs: unknown field, wrong type, missing or
 * duplicate value. A lenient route drops values that it cannot read.
 * @throws (when called) INVALID_INPUT with `field`
 */
export function inputReader(route: Route): InputReader {
  const args = route.definition.args.map(arg => ({
    arg,
    source: route.sources[arg.name] ?? 'query',
  }))
  const inBody = new Set(args.filter(a => a.source === 'body').map(a => a.arg.name))
  const inQuery = new Set(args.filter(a => a.source === 'query').map(a => a.arg.name))

  return parts => {
    if (parts.body && !route.lenient) {
      for (const name of Object.keys(parts.body))
        if (!inBody.has(name))
          throw new InvalidInput(
            excerpt(name),
            `There is no field "${excerpt(name)}" here. ${wanted(inBody)}`,
          )
    }
    const values: Record<string, unknown> = {}
    for (const { arg, source } of args) {
      const given = readFrom(parts, source, arg.name, route, inQuery)
      const value = typed(arg, given, source === 'query' || source === 'path', route.lenient)
      if (value !== undefined) values[arg.name] = value
      else if (isNonNullType(arg.type))
        throw new InvalidInput(arg.name, `"${arg.name}" is missing.`)
    }
    return values
  }
}

const wanted = (names: Set<string>): string =>
  names.size > 0 ? `Known fields: ${[...names].join(', ')}.` : 'This operation has no fields.'

function readFrom(
  parts: RequestParts,
  source: string,
  name: string,
  route: Route,
  inQuery: Set<string>,
): unknown {
  if (source === 'path') return parts.path[name]
  // Secrets in URLs end up in logs and histories, so they are refused, not ignored.
  if (name === 'password' && parts.query.has(name))
    throw new InvalidInput(
      name,
      'Never send a password in the URL. Send it in the body, or in its header.',
    )
  if (source === 'body') return parts.body?.[name]
  if (source === 'form') return parts.form?.[name]
  if (source === 'raw') return parts.raw
  if (source.startsWith('header ')) return parts.header(source.slice('header '.length))
  if (!inQuery.has(name)) return undefined
  const all = parts.query.getAll(name)
  if (all.length > 1 && !route.lenient)
    throw new InvalidInput(name, `"${name}" was sent more than once.`)
  const [value] = all
  return value?.includes('\uFFFD') && !/%EF%BF%BD/i.test(parts.address)
    ? markUndecoded(value)
    : value
}

/** A value of the argument's type; undefined when it is absent. */
function typed(arg: GraphQLArgument, given: unknown, isText: boolean, lenient: boolean): unknown {
  const required = isNonNullType(arg.type)
  if (given === undefined || given === null) return undefined
  // Clients send empty texts for omitted values.
  if (given === '' && !required) return undefined
  try {
    const tooLong = Array.isArray(given) ? longListOf(arg, given.length) : undefined
    if (tooLong) throw tooLong
    return coerce(
      arg.type,
      isText && typeof given === 'string' ? fromText(arg.type, given) : given,
      arg.name,
    )
  } catch (error) {
    if (lenient && !required) return undefined
    throw error
  }
}

const MAX_INT = 2 ** 31 - 1

/** Parses a text from a URL. */
function fromText(type: GraphQLInputType, text: string): unknown {
  const leaf = getNullableType(type)
  if (!isScalarType(leaf)) return text
  if (leaf.name === 'Boolean') return text === 'true' ? true : text === 'false' ? false : text
  // A number too large for Int stays too large. The field refuses or clamps it.
  if (leaf.name === 'Int' && /^-?\d+$/.test(text))
    return Math.min(Math.max(Number(text), -MAX_INT), MAX_INT)
  if (leaf.name === 'Long' && /^-?\d{1,15}$/.test(text)) return Number(text)
  return text
}

function coerce(type: GraphQLInputType, value: unknown, name: string): unknown {
  const inner = getNullableType(type)
  if (isListType(inner)) {
    if (!Array.isArray(value)) throw new InvalidInput(name, `"${name}" must be a list.`)
    return value.map(item => {
      if (item === null || item === undefined)
        throw new InvalidInput(name, `"${name}" must not contain null.`)
      return coerce(inner.ofType, item, name)
    })
  }
  if (!isLeafType(inner)) throw new TypeError(`REST arguments must be flat, but ${name} is nested.`)
  // GraphQL accepts numbers as ids, but on the wire an id is a text.
  if (inner.name === 'ID' && typeof value !== 'string')
    throw new InvalidInput(name, `"${name}" must be a string.`)
  try {
    // Only checks the value. The executor parses it again, so the original value is returned.
    inner.parseValue(value)
    return value
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new InvalidInput(name, `"${name}" must be ${nameOf(inner)}.`)
  }
}

function nameOf(type: GraphQLInputType): string {
  if (isEnumType(type))
    return `one of ${type
      .getValues()
      .map(v => v.name)
      .join(', ')}`
  if (type instanceof GraphQLList) return 'a list'
  const names: Record<string, string> = {
    String: 'a text',
    ID: 'a text',
    Int: 'a whole number',
    Long: 'a whole number',
    Boolean: 'true or false',
    DateTime: 'an RFC 3339 time',
    Upload: 'a file',
  }
  return names[String(type)] ?? `a ${String(type)}`
}
