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
       * The drive or workspace that the scopes `drive`, `workspace` and `workspaceTree` of the
       * field are about. Without it, that of the parent.
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
 * Runs the checks of fields, tells these rules what they are about, and makes scope-auth forget
 * what it has found for a field. Listed before scope-auth, so that it runs first.
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
    // A context of its own, because what such a rule loads belongs to one field. A copy, because V8
    // makes a hidden class of each object that becomes a prototype.
    const own = hasSubject
      ? { ...context, subject: () => (on ? on(parent, args, context) : (parent as Subject)) }
      : context
    try {
      return resolver(parent, args, own, info)
    } finally {
      // It keeps this in a WeakMap from contexts, whose entries lead back to their keys: V8 copies
      // them at each collection of young objects, with all that the request has loaded, until a
      // full one.
      RequestCache.clearForContext(own)
    }
  }
}

SchemaBuilder.registerPlugin('access', AccessPlugin)
