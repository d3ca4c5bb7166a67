import type {
  InputFieldMap,
  InputObjectRef,
  InputShapeFromFields,
  MaybePromise,
  ObjectFieldsShape,
  ObjectRef,
} from '@pothos/core'
import type { GraphQLResolveInfo } from 'graphql'
import { AppError, type ErrorCode } from '../src/runtime/errors.ts'
import type { RateName } from '../src/services/rate-limit.ts'
import type { Subject } from './access.ts'
import type { ContextOf } from './base.ts'
import { builder, type GraphTypes, type InputFields, type Types } from './builder.ts'
import type { Context } from './context.ts'
import { withDirective } from './directive.ts'

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** The error codes of a mutation, besides those of its scopes. */
    fails?: readonly ErrorCode[]
  }
}

type Scopes = Partial<GraphTypes['AuthScopes']>

interface Options<S extends Scopes, Fields extends InputFieldMap, Payload extends object> {
  description: string
  auth: S
  /** Its error codes, besides those of its scopes. */
  fails: readonly ErrorCode[]
  /**
   * The input paths of arguments that the services name differently, by the `field` of their
   * errors.
   */
  places?: Readonly<Record<string, string>>
  rateLimit?: RateName
  /** Why it is allowed during maintenance; without a reason it is refused. */
  goesOn?: string
  /** Omitted by a mutation without arguments. */
  input?: (t: InputFields) => Fields
  /** The subject of the scopes `drive` and `workspace`. */
  on?: (input: InputShapeFromFields<Fields>, context: Context) => Subject | Promise<Subject>
  resolve: (
    input: InputShapeFromFields<Fields>,
    context: ContextOf<S>,
    info: GraphQLResolveInfo,
  ) => MaybePromise<Payload>
  payload: ObjectFieldsShape<Types, Payload>
}

/**
 * The error of a service, with the service's argument name replaced by the path of the input
 * argument.
 */
function atArgument(error: unknown, places: Readonly<Record<string, string>>): unknown {
  if (!(error instanceof AppError) || typeof error.details.field !== 'string') return error
  const { code, message, details, originalError } = error
  const name = error.details.field
  return new AppError(
    code,
    message,
    { ...details, field: `input.${places[name] ?? name}` },
    originalError,
  )
}

/**
 * A mutation: one input, and a payload that is null if it fails, so that other mutations in the
 * request keep their results. Write `input` before `on` and `resolve`, and `payload` last, because
 * types are inferred in this order.
 */
export function mutation<
  const S extends Scopes,
  Fields extends InputFieldMap,
  Payload extends object,
>(
  name: string,
  {
    description,
    auth,
    fails,
    places = {},
    rateLimit,
    goesOn,
    input,
    on,
    resolve,
    payload,
  }: Options<S, Fields, Payload>,
) {
  // Every change by an operator is critical.
  const failures = auth.operator ? [...fails, 'PROOF_NEEDED' as const] : fails
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  type Given = InputShapeFromFields<Fields>
  // The parameters of this function type the fields. Pothos cannot infer them through a generic
  // function.
  const Input: InputObjectRef<Types, object> | undefined =
    input &&
    builder.inputType(`${type}Input`, { description: `What ${name} takes.`, fields: input })
  const PayloadType = builder
    .objectRef<Payload>(`${type}Payload`)
    .implement({ description: `The result of ${name}.`, fields: payload })
  builder.mutationField(name, t =>
    t.field({
      type: PayloadType as ObjectRef<Types, object>,
      description: [
        description,
        ...(goesOn ? [`Allowed during maintenance: ${goesOn}.`] : []),
        ...(failures.length > 0 ? [`Fails with ${failures.join(', ')}.`] : []),
      ].join(' '),
      extensions:
        failures.length > 0
          ? withDirective({ fails: failures }, 'fails', { with: failures })
          : { fails: failures },
      args: Input
        ? { input: t.arg({ type: Input, required: true, description: 'The input.' }) }
        : {},
      authScopes: auth,
      ...(on
        ? {
            on: (_root: object, args: { input: object }, context: Context) =>
              on(args.input as Given, context),
          }
        : {}),
      ...(rateLimit ? { rateLimit } : {}),
      goesOn,
      resolve: async (_root, args, context, info): Promise<object> => {
        try {
          if (auth.operator && context.caller) await context.services.proofs.require(context.caller)
          return await resolve(args.input as Given, context as ContextOf<S>, info)
        } catch (error) {
          throw atArgument(error, places)
        }
      },
    }),
  )
}
