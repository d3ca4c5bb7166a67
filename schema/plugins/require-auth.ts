import SchemaBuilder, {
  BasePlugin,
  type PothosOutputFieldConfig,
  PothosSchemaError,
  type SchemaTypes,
} from '@pothos/core'

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      requireAuth: RequireAuthPlugin<Types>
    }
  }
}

/**
 * Makes the schema fail to build if a root field does not declare its auth scopes. `public: true`
 * is a declaration, too.
 */
export class RequireAuthPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(
    field: PothosOutputFieldConfig<Types>,
  ): PothosOutputFieldConfig<Types> {
    const isRoot = ['Query', 'Mutation', 'Subscription'].includes(field.parentType)
    const { authScopes } = field.pothosOptions as { authScopes?: object }
    const states = typeof authScopes === 'function' || Object.keys(authScopes ?? {}).length > 0
    if (isRoot && !states)
      throw new PothosSchemaError(
        `${field.parentType}.${field.name} does not state its auth scopes.`,
      )
    return field
  }
}

SchemaBuilder.registerPlugin('requireAuth', RequireAuthPlugin)
