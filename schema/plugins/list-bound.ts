import SchemaBuilder, {
  BasePlugin,
  type PothosInputFieldConfig,
  type PothosOutputFieldConfig,
  PothosSchemaError,
  type SchemaTypes,
} from '@pothos/core'
import type { GraphQLFieldResolver, GraphQLInputField } from 'graphql'
import { InvalidInput } from '../../src/runtime/errors.ts'
import type { Context } from '../context.ts'

declare module 'graphql' {
  interface GraphQLArgumentExtensions {
    maxItems?: number
  }
  interface GraphQLInputFieldExtensions {
    maxItems?: number
  }
}

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      listBound: ListBoundPlugin<Types>
    }
    export interface InputFieldOptions<Types, Type, Req> {
      /**
       * The maximum length of a list, through GraphQL and REST. Required for every list argument
       * and input field.
       */
      maxItems?: number
    }
  }
}

/**
 * Publishes `maxItems` in the extensions of an argument or input field, where GraphQL, REST and the
 * OpenAPI document read it. The schema fails to build if a list does not state it.
 */
export class ListBoundPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onInputFieldConfig(field: PothosInputFieldConfig<Types>): PothosInputFieldConfig<Types> {
    if (field.type.kind !== 'List') return field
    const { maxItems } = field.pothosOptions as { maxItems?: number }
    if (maxItems === undefined)
      throw new PothosSchemaError(
        `${field.parentType}.${field.name} does not state how many items it takes.`,
      )
    return { ...field, extensions: { ...field.extensions, maxItems } }
  }

  /**
   * All events of a subscription share the context of its request, but each is a separate response.
   */
  override wrapResolve(
    resolver: GraphQLFieldResolver<unknown, Types['Context'], object>,
    field: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    if (field.parentType !== 'Subscription') return resolver
    return (root, args, context, info) => {
      const { shared } = context as Context
      shared.given = 0
      return resolver(root, args, context, info)
    }
  }
}

/**
 * The error for a list that is too long for its argument or input field; undefined otherwise.
 * @param at the name of the list in the error
 */
export function longListOf(
  { name, extensions: { maxItems } }: Pick<GraphQLInputField, 'name' | 'extensions'>,
  length: number,
  at = name,
): InvalidInput | undefined {
  if (maxItems === undefined || length <= maxItems) return undefined
  return new InvalidInput(at, `"${name}" takes up to ${maxItems} items. Send fewer at a time.`)
}

SchemaBuilder.registerPlugin('listBound', ListBoundPlugin)
