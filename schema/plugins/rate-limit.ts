import SchemaBuilder, {
  BasePlugin,
  type PothosOutputFieldConfig,
  type SchemaTypes,
} from '@pothos/core'
import type { GraphQLFieldResolver } from 'graphql'
import type { RateName } from '../../src/services/rate-limit.ts'
import { networkOf } from '../../src/values/network.ts'
import type { Context } from '../context.ts'

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      rateLimit: RateLimitPlugin<Types>
    }
    export interface QueryFieldOptions<Types, Type, Nullable, Args, ResolveReturnShape> {
      /** The counter of an expensive query. */
      rateLimit?: RateName
    }
    export interface MutationFieldOptions<Types, Type, Nullable, Args, ResolveReturnShape> {
      /** The name of the counter of the call (docs/contract.md, section 7). */
      rateLimit?: RateName
    }
  }
}

/**
 * Counts calls per user, or per client network without a user. Runs after the auth scopes have
 * passed, so that refused calls do not count.
 */
export class RateLimitPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolver: GraphQLFieldResolver<unknown, Types['Context'], object>,
    field: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    const { rateLimit } = field.pothosOptions as { rateLimit?: RateName }
    if (!rateLimit) return resolver
    return async (root, args, context, info) => {
      const { services, caller, address } = context as Context
      if (services.rateLimits.counts(rateLimit, caller))
        await services.rateLimits.hit(
          rateLimit,
          caller?.userId ?? `network ${networkOf(address)}`,
          info,
        )
      return resolver(root, args, context, info)
    }
  }
}

SchemaBuilder.registerPlugin('rateLimit', RateLimitPlugin)
