import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The source of an argument of a route. */
export type Source = 'path' | 'query' | 'body' | 'form' | 'raw' | `header ${string}`

/** The REST route of a root field. Its statuses, inputs and OpenAPI document are derived from this and from the field's types. */
export interface RestRoute {
  /** Method and path, with `{name}` for arguments in the path. */
  route: `${Method} /api/${string}`
  /** A second method for the same path: HTML forms and old clients. */
  also?: Method
  /** Every status besides 200 (or 302). Any other is clamped to one of these (docs/contract.md, section 1). */
  errors: readonly number[]
  /** Puts the value under this key of `response`. */
  wrap?: string
  /** The code of a success; `ok` by default. */
  msg?: string
  /** The value is a download: respond with 302 to its URL, or with its bytes. */
  redirect?: true
  /** The page to which a refused browser navigation is redirected, and which explains the error. Supports `{name}` like `route`. */
  page?: `/${string}`
  /** Arguments with another source than the default (query on GET and DELETE, body otherwise), by their wire names. */
  from?: Record<string, Source>
  /** Arguments whose wire name is not their name in snake_case. */
  names?: Record<string, string>
}

/** How REST shows a field of an object: under another name, not at all, or replaced by its own fields. */
export type RestField = { name: string } | { spread: true } | false

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
    export interface ObjectFieldOptions<Types, ParentShape, Type, Nullable, Args, ResolveReturnShape> {
      restField?: RestField
    }
  }
}

/** Publishes `rest` and `restField` in the field's extensions, where the REST view and the OpenAPI document read them. */
export class RestPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(field: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const { rest, restField, rateLimit, authScopes } = field.pothosOptions as {
      rest?: RestRoute
      restField?: RestField
      rateLimit?: string
      authScopes?: { public?: boolean }
    }
    if (rest === undefined && restField === undefined) return field
    const isLimited = rateLimit !== undefined
    return {
      ...field,
      extensions: { ...field.extensions, rest, restField, isLimited, public: authScopes?.public === true },
    }
  }
}

SchemaBuilder.registerPlugin('rest', RestPlugin)
