import SchemaBuilder, {
  BasePlugin,
  type PothosOutputFieldConfig,
  type SchemaTypes,
} from '@pothos/core'
import type { ScanCost } from '../paging.ts'

/**
 * What a field may cost, as far as its type and its arguments do not tell (src/graphql/cost.ts).
 */
interface Cost {
  /** How many items its list has at most. */
  listSize?: number | undefined
  /**
   * The argument whose list says how many items it has: a path below the field or, in a payload,
   * below its mutation.
   */
  sizedBy?: string | undefined
  /** What it reads beyond what it shows, in values: for each object that it is a field of. */
  cost?: number | undefined
  /** The same, once however many objects. */
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
 * Publishes what fields may cost in their extensions, where the measuring of operations reads it.
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
