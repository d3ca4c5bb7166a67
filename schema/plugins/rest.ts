import SchemaBuilder, {
  BasePlugin,
  type PothosInputFieldConfig,
  type PothosOutputFieldConfig,
  PothosSchemaError,
  type SchemaTypes,
} from '@pothos/core'
import type { ErrorCode } from '../../src/runtime/errors.ts'
import type { BaseTypes } from '../base.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The source of an argument of a route. */
export type Source = 'path' | 'query' | 'body' | 'form' | 'raw' | `header ${string}`

/** A noun of the interface, under which the API document lists its operations. */
export interface Area {
  name: string
  description: string
}

/**
 * The REST route of a root field. Its inputs, its errors and its part of the API document are
 * derived from this and from the field's types.
 */
export interface RestRoute {
  area: Area
  /** Method and path, with `{name}` for arguments in the path. */
  route: `${Method} /api/${string}`
  /** A second method for the same path: HTML forms and old clients. */
  also?: Method
  /**
   * Every status besides 200 (or 302). Any other is clamped to one of these (docs/contract.md,
   * section 1).
   */
  statuses: readonly number[]
  /**
   * The error codes of the operation itself. Those of credentials, inputs, bodies and rate limits
   * follow from the field.
   */
  fails?: readonly ErrorCode[]
  /** Puts the value under this key of `response`. */
  wrap?: string
  /** Whether it may continue after its request: 202. */
  defers?: boolean
  /** The code of a success; `ok` by default. */
  msg?: string
  /**
   * The page to which a refused browser navigation is redirected, and which explains the error.
   * Supports `{name}` like `route`.
   */
  page?: `/${string}`
  /** Arguments with another source than the default (query on GET and DELETE, body otherwise). */
  from?: Record<string, Source>
}

/** The example of a field or an argument in the API document. */
export type Example = string | number | boolean | readonly (string | number)[]

/**
 * Constraints of an argument in addition to its type, for the API document. The service checks
 * them.
 */
export interface Bounds {
  minimum?: number
  maximum?: number
  enum?: readonly string[]
}

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    rest?: RestRoute
    /** Whether calls are counted. */
    isLimited?: boolean
    /** The rules of a route. */
    auth?: Partial<BaseTypes['AuthScopes']>
    example?: Example | undefined
  }
  interface GraphQLArgumentExtensions {
    example?: Example | undefined
    bounds?: Bounds | undefined
  }
}

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      rest: RestPlugin<Types>
    }
    export interface QueryFieldOptions<Types, Type, Nullable, Args, ResolveReturnShape> {
      rest?: RestRoute
    }
    export interface MutationFieldOptions<Types, Type, Nullable, Args, ResolveReturnShape> {
      rest?: RestRoute
    }
    export interface ObjectFieldOptions<
      Types,
      ParentShape,
      Type,
      Nullable,
      Args,
      ResolveReturnShape,
    > {
      example?: Example
    }
    export interface InputFieldOptions<Types, Type, Req> {
      /** The example of a request shows every argument that is required, or that has an example. */
      example?: Example
      bounds?: Bounds
    }
  }
}

/**
 * Publishes routes and examples in the extensions of fields and arguments, where the router and the
 * API document read them, and makes the schema fail to build when a root field has no route.
 */
export class RestPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(
    field: PothosOutputFieldConfig<Types>,
  ): PothosOutputFieldConfig<Types> {
    const options = field.pothosOptions as {
      rest?: RestRoute
      example?: Example
      rateLimit?: string
      authScopes?: Partial<BaseTypes['AuthScopes']>
    }
    const { rest, example, rateLimit, authScopes: auth = {} } = options
    if (field.parentType !== 'Query' && field.parentType !== 'Mutation')
      return { ...field, extensions: { ...field.extensions, example } }
    if (!rest)
      throw new PothosSchemaError(`${field.parentType}.${field.name} does not state its route.`)
    const declared = { rest, auth, isLimited: rateLimit !== undefined }
    return { ...field, extensions: { ...field.extensions, ...declared } }
  }

  override onInputFieldConfig(field: PothosInputFieldConfig<Types>): PothosInputFieldConfig<Types> {
    const { example, bounds } = field.pothosOptions as { example?: Example; bounds?: Bounds }
    return { ...field, extensions: { ...field.extensions, example, bounds } }
  }
}

SchemaBuilder.registerPlugin('rest', RestPlugin)
