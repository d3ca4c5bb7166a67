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

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** The codes that a mutation fails with, besides those of its scopes. */
    fails?: readonly ErrorCode[]
  }
}

type Scopes = Partial<GraphTypes['AuthScopes']>

interface Options<S extends Scopes, Fields extends InputFieldMap, Payload extends object> {
  description: string
  auth: S
  /** The codes that it fails with, besides those of its scopes. */
  fails: readonly ErrorCode[]
  /**
   * Where in the input is what the services call otherwise: by the name in the `field` of their
   * errors.
   */
  places?: Readonly<Record<string, string>>
  rateLimit?: RateName
  /** Why it goes on during a maintenance; without a reason it is refused then. */
  goesOn?: string
  /** Left out by a mutation that takes nothing. */
  input?: (t: InputFields) => Fields
  /** What the scopes `drive` and `workspace` are about. */
  on?: (input: InputShapeFromFields<Fields>, context: Context) => Subject | Promise<Subject>
  resolve: (
    input: InputShapeFromFields<Fields>,
    context: ContextOf<S>,
    info: GraphQLResolveInfo,
  ) => MaybePromise<Payload>
  payload: ObjectFieldsShape<Types, Payload>
}

/**
 * The error of a service, with the path of the argument in the place of the name that the service
 * has for it.
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
 * A mutation: one input, and a payload that is null when it fails, so that others in the same
 * request keep their answers. `input` stands before `on` and `resolve`, and `payload` last: types
 * are inferred in this order.
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
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  type Given = InputShapeFromFields<Fields>
  // Its fields are typed in the parameters of this function; Pothos cannot follow them through a
  // generic one.
  const Input: InputObjectRef<Types, object> | undefined =
    input &&
    builder.inputType(`${type}Input`, { description: `What ${name} takes.`, fields: input })
  const PayloadType = builder
    .objectRef<Payload>(`${type}Payload`)
    .implement({ description: `The result of ${name}.`, fields: payload })
  builder.mutationField(name, t =>
    t.field({
      type: PayloadType as ObjectRef<Types, object>,
      nullable: true,
      description: [
        description,
        ...(goesOn ? [`Goes on during a maintenance: ${goesOn}.`] : []),
        ...(fails.length > 0 ? [`Fails with ${fails.join(', ')}.`] : []),
      ].join(' '),
      extensions: { fails },
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
          return await resolve(args.input as Given, context as ContextOf<S>, info)
        } catch (error) {
          throw atArgument(error, places)
        }
      },
    }),
  )
}
