import {
  DirectiveLocation,
  GraphQLDirective,
  type GraphQLEnumType,
  type GraphQLField,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLSchema,
  isEnumType,
} from 'graphql'

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** The directives of the field in the printed schema, with their arguments. */
    directives?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  }
}

/** https://specs.apollo.dev/nullability/v0.4. Relay, Apollo Kotlin and GraphQL Codegen know it. */
const semanticNonNull = new GraphQLDirective({
  name: 'semanticNonNull',
  description:
    'The field is null only if it has an error. A client that throws errors can treat it as non-null.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    levels: {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLInt))),
      defaultValue: [0],
      description: 'The levels of lists to which this applies: 0 is the field itself.',
    },
  },
})

const failsWith = (code: GraphQLEnumType) =>
  new GraphQLDirective({
    name: 'fails',
    description:
      'The error codes of a mutation, in addition to those that every field may have (docs/graphql.md).',
    locations: [DirectiveLocation.FIELD_DEFINITION],
    args: {
      with: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(code))),
        description: 'The codes.',
      },
    },
  })

/** The schema with its directives. */
export function withDirectives(schema: GraphQLSchema): GraphQLSchema {
  const directives = [...schema.getDirectives(), semanticNonNull]
  const code = schema.getType('ErrorCode')
  if (isEnumType(code)) directives.push(failsWith(code))
  return new GraphQLSchema({ ...schema.toConfig(), directives })
}

/** The extensions of a field with one more directive. */
export const withDirective = (
  extensions: GraphQLField<unknown, unknown>['extensions'] | undefined | null,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
) => ({ ...extensions, directives: { ...extensions?.directives, [name]: args } })
