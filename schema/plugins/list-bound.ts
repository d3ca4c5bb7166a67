import SchemaBuilder, {
  BasePlugin,
  type PothosInputFieldConfig,
  PothosSchemaError,
  type SchemaTypes,
} from '@pothos/core'
import type { GraphQLArgument, GraphQLInputField } from 'graphql'
import { InvalidInput } from '../../src/errors.ts'

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      listBound: ListBoundPlugin<Types>
    }
    export interface InputFieldOptions<Types, Type, Req> {
      /** The maximum length of a list, through GraphQL and REST. Required for every list argument and input field. */
      maxItems?: number
    }
  }
}

/**
 * Publishes `maxItems` in the extensions of an argument or input field, where GraphQL, REST and the OpenAPI document read it, and makes the
 * schema fail to build when a list does not state it.
 */
export class ListBoundPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onInputFieldConfig(field: PothosInputFieldConfig<Types>): PothosInputFieldConfig<Types> {
    if (field.type.kind !== 'List') return field
    const { maxItems } = field.pothosOptions as { maxItems?: number }
    if (maxItems === undefined)
      throw new PothosSchemaError(`${field.parentType}.${field.name} does not state how many items it takes.`)
    return { ...field, extensions: { ...field.extensions, maxItems } }
  }
}

/** The maximum length of the list of an argument or input field; undefined if it is not a list. */
export function maxItemsOf({
  extensions,
}: Pick<GraphQLArgument | GraphQLInputField, 'extensions'>): number | undefined {
  return typeof extensions.maxItems === 'number' ? extensions.maxItems : undefined
}

/** The error text for a list that is too long for its argument or input field; undefined otherwise. */
export function longListOf(
  input: Pick<GraphQLInputField, 'name' | 'extensions'>,
  length: number,
): InvalidInput | undefined {
  const max = maxItemsOf(input)
  if (max === undefined || length <= max) return undefined
  return new InvalidInput(input.name, `"${input.name}" takes up to ${max} items. Send fewer at a time.`)
}

SchemaBuilder.registerPlugin('listBound', ListBoundPlugin)
