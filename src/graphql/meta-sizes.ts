import {
  type GraphQLSchema,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql'

/**
 * Estimates the lengths of introspection lists. Within the list of all types, lists count with
 * their average length, which gives the exact total. Elsewhere they count with the longest length.
 */
export function createMetaSizes(schema: GraphQLSchema) {
  const types = Object.values(schema.getTypeMap())
  const counts = {
    fields: types.map(type =>
      isObjectType(type) || isInterfaceType(type) ? Object.keys(type.getFields()).length : 0,
    ),
    inputFields: types.map(type =>
      isInputObjectType(type) ? Object.keys(type.getFields()).length : 0,
    ),
    enumValues: types.map(type => (isEnumType(type) ? type.getValues().length : 0)),
    interfaces: types.map(type =>
      isObjectType(type) || isInterfaceType(type) ? type.getInterfaces().length : 0,
    ),
    possibleTypes: types.map(type =>
      isAbstractType(type) ? schema.getPossibleTypes(type).length : 0,
    ),
  }
  const argumentCounts = types.flatMap(type =>
    isObjectType(type) || isInterfaceType(type)
      ? Object.values(type.getFields()).map(({ args }) => args.length)
      : [],
  )
  const average = (of: number[]) => of.reduce((a, b) => a + b, 0) / Math.max(of.length, 1)
  const longest = (of: number[]) => Math.max(1, ...of)

  const sizes: Record<string, { average: number; most: number }> = {
    '__Schema.types': { average: types.length, most: types.length },
    '__Schema.directives': {
      average: schema.getDirectives().length,
      most: schema.getDirectives().length,
    },
    '__Directive.locations': { average: 10, most: 20 },
    '__Directive.args': { average: 2, most: 2 },
    '__Field.args': { average: average(argumentCounts), most: longest(argumentCounts) },
    ...Object.fromEntries(
      Object.entries(counts).map(([name, of]) => [
        `__Type.${name}`,
        { average: average(of), most: longest(of) },
      ]),
    ),
  }
  return (parent: string, field: string, ofAllTypes: boolean): number | undefined => {
    const size = sizes[`${parent}.${field}`]
    return ofAllTypes || parent === '__Field' ? size?.average : size?.most
  }
}
