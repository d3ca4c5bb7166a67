import type {
  InputFieldMap,
  InputShapeFromFields,
  MaybePromise,
  ObjectRef,
  ShapeFromTypeParam,
  TypeParam,
} from '@pothos/core'
import type { GraphQLResolveInfo } from 'graphql'
import type { RateName } from '../../src/services/rate-limit.ts'
import type { ContextOf, Subject } from '../base.ts'
import type { Context } from '../context.ts'
import type { RestRoute } from '../plugins/rest.ts'
import { type Argument, builder, type RestTypes, type Types } from './builder.ts'

type Route = RestRoute['route']
type Scopes = Partial<RestTypes['AuthScopes']>

/**
 * The argument of workspace operations: those with a workspace in their path, and those with a rule
 * about one.
 */
type Place<R extends Route, S extends Scopes> = R extends `${string}{workspace_id}${string}`
  ? { workspace_id: string }
  : 'workspace' extends keyof S
    ? { workspace_id: string }
    : 'workspaceTree' extends keyof S
      ? { workspace_id: string }
      : object

const isAboutWorkspace = (route: Route, auth: Scopes): boolean =>
  route.includes('{workspace_id}') || 'workspace' in auth || 'workspaceTree' in auth

interface Options<
  R extends Route,
  S extends Scopes,
  Fields extends InputFieldMap,
  Type extends TypeParam<Types>,
  Defers extends boolean,
> extends Omit<RestRoute, 'area' | 'route'> {
  description: string
  /**
   * Whether it may continue after its request. It then returns null, and the response is 202 with
   * `shared.accepted`.
   */
  defers?: Defers
  auth: S
  rateLimit?: RateName
  /**
   * For a change: why it is allowed during maintenance. Without a reason it is refused.
   */
  goesOn?: string
  args?: (arg: Argument) => Fields
  /**
   * The subject of the rule about a drive or a workspace, unless it is the caller's own drive or
   * the named workspace.
   */
  on?: (args: InputShapeFromFields<Fields> & Place<R, S>, context: Context) => Subject
  /** The type of its response; without it, there is no value. */
  type?: Type
  resolve: (
    args: InputShapeFromFields<Fields> & Place<R, S>,
    context: ContextOf<S>,
    info: GraphQLResolveInfo,
  ) => MaybePromise<Type extends 'Void' ? void : ShapeFromTypeParam<Types, Type, Defers>>
}

/**
 * Declares the operations of an area: a noun of the interface, under which the API document lists
 * them.
 */
export const operationsOf =
  (area: string, about: string) =>
  /** An operation: its route, the name of its field, and its options. */
  <
    const R extends Route,
    const S extends Scopes,
    Fields extends InputFieldMap = Record<never, never>,
    Type extends TypeParam<Types> = 'Void',
    const Defers extends boolean = false,
  >(
    route: R,
    name: string,
    {
      description,
      auth,
      rateLimit,
      goesOn,
      args,
      on,
      type,
      defers,
      resolve,
      ...rest
    }: Options<R, S, Fields, Type, Defers>,
  ): void => {
    type Given = InputShapeFromFields<Fields> & Place<R, S>
    const isPlaced = isAboutWorkspace(route, auth)
    const usual = ({ workspace_id: workspaceId }: { workspace_id?: string }): Subject =>
      workspaceId === undefined ? { driveId: null } : { workspaceId }
    const subject = (on ?? usual) as (args: object, context: Context) => Subject
    const options = (arg: Argument) => ({
      // The parameters of this function type the response. Pothos cannot infer it through a generic
      // function.
      type: (type ?? 'Void') as ObjectRef<Types, object>,
      nullable: type === undefined || defers === true,
      description,
      rest: { ...rest, route, defers: defers ?? false, area: { name: area, description: about } },
      authScopes: auth,
      ...(rateLimit ? { rateLimit } : {}),
      args: { ...args?.(arg), ...(isPlaced ? { workspace_id: arg.id({ required: true }) } : {}) },
      ...(isPlaced || 'drive' in auth
        ? { on: (_root: object, given: object, context: Context) => subject(given, context) }
        : {}),
      resolve: (_root: object, given: object, context: Context, info: GraphQLResolveInfo) => {
        const value = resolve(given as Given, context as ContextOf<S>, info)
        return (type ? value : Promise.resolve(value).then(() => null)) as object
      },
    })
    if (route.startsWith('GET ')) builder.queryField(name, t => t.field(options(t.arg)))
    else builder.mutationField(name, t => t.field({ ...options(t.arg), goesOn }))
  }
