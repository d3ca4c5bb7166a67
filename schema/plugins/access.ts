import SchemaBuilder, {
  BasePlugin,
  type FieldNullability,
  type InputFieldMap,
  type InputShapeFromFields,
  type PothosOutputFieldConfig,
  type SchemaTypes,
  type TypeParam,
} from '@pothos/core'
import { RequestCache } from '@pothos/plugin-scope-auth'
import type { GraphQLFieldResolver } from 'graphql'
import type { Subject } from '../access.ts'
import type { Context } from '../context.ts'

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      access: AccessPlugin<Types>
    }
    export interface FieldOptions<
      Types extends SchemaTypes,
      ParentShape,
      Type extends TypeParam<Types>,
      Nullable extends FieldNullability<Type>,
      Args extends InputFieldMap,
      ResolveShape,
      ResolveReturnShape,
    > {
      /**
       * The drive or workspace to which the scopes `drive`, `workspace` and `workspaceTree` of the
       * field apply. By default, that of the parent.
       */
      on?: (
        parent: ParentShape,
        args: InputShapeFromFields<Args>,
        context: Context,
      ) => Subject | Promise<Subject>
      /**
       * Throws for callers who may not see the field of this parent. For fields of long lists: an
       * auth scope costs far more.
       */
      check?: (parent: ParentShape, context: Context) => void
    }
  }
}

/** The rules about a drive or a workspace. */
const SUBJECT_RULES = ['drive', 'workspace', 'workspaceTree', 'workspaceIfAny']

/**
 * Runs the checks of fields, passes the subject to these rules, and clears scope-auth's cache for a
 * field. Listed before scope-auth, so that it runs first.
 */
export class AccessPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolver: GraphQLFieldResolver<unknown, Types['Context'], object>,
    field: PothosOutputFieldConfig<Types>,
  ) {
    return withCheck(withSubject(resolver, field), field)
  }

  override wrapSubscribe(
    subscriber: GraphQLFieldResolver<unknown, Types['Context'], object>,
    field: PothosOutputFieldConfig<Types>,
  ) {
    return withSubject(subscriber, field)
  }
}

function withCheck<C extends object>(
  resolver: GraphQLFieldResolver<unknown, C, object>,
  { pothosOptions }: { pothosOptions: object },
): GraphQLFieldResolver<unknown, C, object> {
  const { check } = pothosOptions as { check?: (parent: unknown, context: C) => void }
  if (!check) return resolver
  return (parent, args, context, info) => {
    check(parent, context)
    return resolver(parent, args, context, info)
  }
}

function withSubject<C extends object>(
  resolver: GraphQLFieldResolver<unknown, C, object>,
  { pothosOptions }: { pothosOptions: object },
): GraphQLFieldResolver<unknown, C, object> {
  const { authScopes, on } = pothosOptions as {
    authScopes?: object
    on?: (parent: unknown, args: object, context: C) => Subject | Promise<Subject>
  }
  if (!authScopes) return resolver
  const hasSubject = SUBJECT_RULES.some(rule => rule in authScopes)
  return (parent, args, context, info) => {
    // Each field has its own context, because a rule loads values for one field. It is a copy,
    // because V8 makes a hidden class for each object that becomes a prototype.
    const own = hasSubject
      ? { ...context, subject: () => (on ? on(parent, args, context) : (parent as Subject)) }
      : context
    try {
      return resolver(parent, args, own, info)
    } finally {
      // scope-auth keeps its cache in a WeakMap from contexts, whose entries refer back to their
      // keys. V8 copies them, with all that the request has loaded, at each minor garbage
      // collection until a full one.
      RequestCache.clearForContext(own)
    }
  }
}

SchemaBuilder.registerPlugin('access', AccessPlugin)
