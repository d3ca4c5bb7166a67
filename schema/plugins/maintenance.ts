import SchemaBuilder, {
  BasePlugin,
  type PothosOutputFieldConfig,
  type SchemaTypes,
} from '@pothos/core'
import type { GraphQLFieldResolver } from 'graphql'
import type { Context } from '../context.ts'

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** Why a mutation is allowed during maintenance; undefined if it is refused. */
    goesOn?: string | undefined
  }
}

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      maintenance: MaintenancePlugin<Types>
    }
    export interface MutationFieldOptions<Types, Type, Nullable, Args, ResolveReturnShape> {
      /** Why it is allowed during maintenance. Without a reason it is refused. */
      goesOn?: string | undefined
    }
  }
}

/**
 * Refuses mutations of both interfaces during maintenance, except those with a reason to be
 * allowed. Runs after the auth scopes have passed.
 */
export class MaintenancePlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(
    field: PothosOutputFieldConfig<Types>,
  ): PothosOutputFieldConfig<Types> {
    if (field.parentType !== 'Mutation') return field
    const { goesOn } = field.pothosOptions as { goesOn?: string }
    return { ...field, extensions: { ...field.extensions, goesOn } }
  }

  override wrapResolve(
    resolver: GraphQLFieldResolver<unknown, Types['Context'], object>,
    field: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    if (field.parentType !== 'Mutation' || field.extensions?.goesOn) return resolver
    return (root, args, context, info) => {
      const { services } = context as Context
      services.maintenance.requireWritable()
      return resolver(root, args, context, info)
    }
  }
}

SchemaBuilder.registerPlugin('maintenance', MaintenancePlugin)
