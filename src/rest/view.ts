import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldResolver,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLSchema,
  getNullableType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
  Kind,
} from 'graphql'
import type { Context } from '../context.ts'
import type { Download } from '../services/download.ts'
import { toSnake } from './case.ts'
import { restFieldOf, restOf, wireNameOf } from './routes.ts'

type Resolver = GraphQLFieldResolver<unknown, Context>

/**
 * The schema as REST sees it, derived mechanically: the root fields that declare a route, with arguments and fields in snake_case, a single
 * `input` argument spread into flat ones, and the same resolvers behind. No delegation, no second execution, no renaming by hand.
 */
export function restView(schema: GraphQLSchema): GraphQLSchema {
  const outputs = new Map<string, GraphQLObjectType>()
  const inputs = new Map<string, GraphQLInputObjectType>()

  function output(type: GraphQLOutputType): GraphQLOutputType {
    if (isNonNullType(type)) return new GraphQLNonNull(output(type.ofType) as never)
    if (isListType(type)) return new GraphQLList(output(type.ofType))
    if (isObjectType(type)) return objectOf(type)
    if (isInterfaceType(type) || isUnionType(type))
      throw new TypeError(`REST cannot show the abstract type ${type.name}.`)
    return type
  }

  function objectOf(type: GraphQLObjectType): GraphQLObjectType {
    const known = outputs.get(type.name)
    if (known) return known
    const made: GraphQLObjectType = new GraphQLObjectType({
      name: type.name,
      ...(type.description ? { description: type.description } : {}),
      fields: () => Object.fromEntries(Object.values(type.getFields()).flatMap(fieldsOf)),
    })
    outputs.set(type.name, made)
    return made
  }

  /** A field of an object under its name on the wire; none, or those of its own object where it is spread. */
  function fieldsOf(field: GraphQLField<unknown, Context>): [string, GraphQLFieldConfig<unknown, Context>][] {
    const rest = restFieldOf(field)
    if (rest === false) return []
    const resolve = asProperty(field)
    if (rest && 'spread' in rest) {
      const inner = getNullableType(field.type)
      if (!isObjectType(inner)) throw new TypeError(`${field.name} is not an object, so it cannot be spread.`)
      return Object.values(inner.getFields()).flatMap(innerField =>
        fieldsOf(innerField).map(([name, config]): [string, GraphQLFieldConfig<unknown, Context>] => [
          name,
          { ...config, resolve: through(resolve, config.resolve ?? defaultFieldResolver) },
        ]),
      )
    }
    const name = rest ? rest.name : toSnake(field.name)
    return [
      [name, { type: output(field.type), resolve, ...(field.description ? { description: field.description } : {}) }],
    ]
  }

  function input(type: GraphQLInputType): GraphQLInputType {
    if (isNonNullType(type)) return new GraphQLNonNull(input(type.ofType) as never)
    if (isListType(type)) return new GraphQLList(input(type.ofType))
    if (!isInputObjectType(type)) return type
    const known = inputs.get(type.name)
    if (known) return known
    const made: GraphQLInputObjectType = new GraphQLInputObjectType({
      name: type.name,
      fields: () =>
        Object.fromEntries(Object.values(type.getFields()).map(f => [toSnake(f.name), { type: input(f.type) }])),
    })
    inputs.set(type.name, made)
    return made
  }

  function rootField(field: GraphQLField<unknown, Context>): GraphQLFieldConfig<unknown, Context> {
    const { args, restore } = flatten(field, input)
    const original = field.resolve ?? defaultFieldResolver
    const redirect = restOf(field)?.redirect
    const resolve: Resolver = async (root, given, context, info) => {
      const value = await original(root, restore(given), context, info)
      // The answer of a redirect is not JSON: its target is left for the edge, which may have to stream it.
      if (redirect) context.download = value as Download
      return value
    }
    return {
      type: output(field.type),
      args,
      resolve,
      extensions: field.extensions,
      ...(field.description ? { description: field.description } : {}),
    }
  }

  function root(type: GraphQLObjectType | null | undefined): GraphQLObjectType | null {
    if (!type) return null
    const fields = Object.values(type.getFields()).filter(restOf)
    return new GraphQLObjectType({
      name: type.name,
      // Without one, SOFA prints and parses the whole type once for each argument, for a document that is not served.
      astNode: { kind: Kind.OBJECT_TYPE_DEFINITION, name: { kind: Kind.NAME, value: type.name }, fields: [] },
      fields: Object.fromEntries(fields.map(f => [f.name, rootField(f)])),
    })
  }

  return new GraphQLSchema({ query: root(schema.getQueryType()), mutation: root(schema.getMutationType()) })
}

/** A resolver for the renamed field; reading a property must not look for the new name. */
function asProperty(field: GraphQLField<unknown, Context>): Resolver {
  const { resolve, name } = field
  if (resolve && resolve !== defaultFieldResolver) return resolve
  return source => (source as Record<string, unknown>)[name]
}

function through(outer: Resolver, inner: Resolver): Resolver {
  return (source, args, context, info) => {
    const middle = outer(source, args, context, info)
    return middle instanceof Promise
      ? middle.then(m => inner(m, args, context, info))
      : inner(middle, args, context, info)
  }
}

/** Flat arguments in snake_case, and the way back to those that the resolver knows. */
function flatten(field: GraphQLField<unknown, Context>, input: (type: GraphQLInputType) => GraphQLInputType) {
  const args: GraphQLFieldConfigArgumentMap = {}
  const restorers: ((given: Record<string, unknown>, restored: Record<string, unknown>) => void)[] = []
  for (const arg of field.args) {
    const inner = getNullableType(arg.type)
    if (isInputObjectType(inner)) {
      const names = Object.values(inner.getFields()).map(f => {
        args[toSnake(f.name)] = {
          type: input(f.type),
          extensions: f.extensions,
          ...(f.description ? { description: f.description } : {}),
        }
        return [toSnake(f.name), f.name] as const
      })
      restorers.push((given, restored) => {
        restored[arg.name] = Object.fromEntries(
          names.flatMap(([wire, name]) => (wire in given ? [[name, given[wire]]] : [])),
        )
      })
    } else {
      const wire = wireNameOf(field, arg.name)
      args[wire] = {
        type: input(arg.type),
        extensions: arg.extensions,
        ...(arg.description ? { description: arg.description } : {}),
      }
      restorers.push((given, restored) => {
        if (wire in given) restored[arg.name] = given[wire]
      })
    }
  }
  const restore = (given: Record<string, unknown>) => {
    const restored: Record<string, unknown> = {}
    for (const r of restorers) r(given, restored)
    return restored
  }
  return { args, restore }
}
