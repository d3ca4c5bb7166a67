import SchemaBuilder, {
  BasePlugin,
  type PothosOutputFieldConfig,
  type SchemaTypes,
} from '@pothos/core'
import type { ScanCost } from '../paging.ts'

/**
 * The cost of a field that does not follow from its type and arguments (src/graphql/cost.ts).
 */
interface Cost {
  /** The maximum length of its list. */
  listSize?: number | undefined
  /**
   * The argument whose list is as long: a path below the field or, in a payload, below its
   * mutation.
   */
  sizedBy?: string | undefined
  /** The cost of what it reads but does not return, in values, for each parent object. */
  cost?: number | undefined
  /** Like `cost`, but once for any number of parent objects. */
  scanCost?: ScanCost | undefined
}

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      cost: CostPlugin<Types>
    }
    export interface FieldOptions<
      Types,
      ParentShape,
      Type,
      Nullable,
      Args,
      ResolveShape,
      ResolveReturnShape,
    > extends Cost {}
  }
}

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> extends Cost {}
}

/**
 * Publishes the costs of fields in their extensions, where the cost analysis reads them.
 */
export class CostPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(
    field: PothosOutputFieldConfig<Types>,
  ): PothosOutputFieldConfig<Types> {
    const { listSize, sizedBy, cost, scanCost } = field.pothosOptions as Cost
    return { ...field, extensions: { ...field.extensions, listSize, sizedBy, cost, scanCost } }
  }
}

SchemaBuilder.registerPlugin('cost', CostPlugin)
