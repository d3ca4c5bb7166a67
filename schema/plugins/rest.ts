import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Where a route takes an argument from. */
export type Source = 'path' | 'query' | 'body' | 'form' | 'raw' | `header ${string}`

/** How a root field is reached by REST. Its statuses, its inputs and its document follow from this and from the field's types. */
export interface RestRoute {
  /** Method and path, with `{name}` for arguments in the path. */
  route: `${Method} /api/${string}`
  /** A second method for the same path: HTML forms and old clients. */
  also?: Method
  /** Every status besides 200 (or 302). Anything else is clamped to one of these: contract, section 1. */
  errors: readonly number[]
  /** Puts the value under this key of `response`. */
  wrap?: string
  /** The machine word of a success; `ok` by default. */
  msg?: string
  /** The value is a download: answer 302 to its address, or its bytes. */
  redirect?: true
  /** Where a browser is led whose visitor opens the address as a page and is refused: that page explains. Takes `{name}` like `route`. */
  page?: `/${string}`
  /** Arguments that do not come from where they do by default: query on GET and DELETE, body on the others. Names as on the wire. */
  from?: Record<string, Source>
  /** Arguments that have another name on the wire than theirs in snake_case. */
  names?: Record<string, string>
}

/** How a field of an object shows by REST: under another name, not at all, or with its own fields in its place. */
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

/** Publishes `rest` and `restField` in the field's extensions, where the REST view and the API document read them. */
export class RestPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(field: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const { rest, restField, authScopes } = field.pothosOptions as {
      rest?: RestRoute
      restField?: RestField
      authScopes?: { public?: boolean }
    }
    if (rest === undefined && restField === undefined) return field
    return { ...field, extensions: { ...field.extensions, rest, restField, public: authScopes?.public === true } }
  }
}

SchemaBuilder.registerPlugin('rest', RestPlugin)
