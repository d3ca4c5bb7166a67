import {
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNullableType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql'

/** The subset of an OpenAPI 3.0 Schema Object that is used here. */
export interface Schema {
  type?: 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array'
  format?: string
  description?: string
  example?: unknown
  nullable?: boolean
  enum?: readonly (string | number | boolean | null)[]
  minimum?: number
  maximum?: number
  items?: SchemaOrRef
  maxItems?: number
  properties?: Record<string, SchemaOrRef>
  required?: string[]
  additionalProperties?: boolean | SchemaOrRef
  allOf?: SchemaOrRef[]
  oneOf?: SchemaOrRef[]
}

export interface Reference {
  $ref: string
}

export type SchemaOrRef = Schema | Reference

/** In OpenAPI 3.0 a reference cannot be nullable, and a null has no type of its own. */
const NOTHING: Schema = { type: 'string', nullable: true, enum: [null] }

/** The JSON forms of the scalars. */
const scalars: Record<string, Schema> = {
  String: { type: 'string' },
  ID: { type: 'string' },
  Int: { type: 'integer', format: 'int32' },
  Long: { type: 'integer', format: 'int64' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
  DateTime: { type: 'string', format: 'date-time' },
  Labels: { type: 'object', additionalProperties: { type: 'string' } },
  Upload: { type: 'string', format: 'binary' },
  Void: NOTHING,
}

/** An object whose listed properties are all required. Later versions may add more. */
export function objectOf(
  properties: Record<string, SchemaOrRef>,
  description?: string | null,
): Schema {
  const required = Object.keys(properties)
  return {
    type: 'object',
    ...(description ? { description } : {}),
    ...(required.length > 0 ? { required } : {}),
    properties,
  }
}

/** A schema with a description. A reference cannot carry one itself. */
export function described(
  schema: SchemaOrRef,
  description: string | null | undefined,
): SchemaOrRef {
  if (!description) return schema
  return '$ref' in schema ? { allOf: [schema], description } : { ...schema, description }
}

/** The schema of an argument. Arguments are flat: leaves, and lists of leaves. */
export function inputSchema(type: GraphQLInputType): Schema {
  const inner = getNullableType(type)
  if (isListType(inner)) return { type: 'array', items: inputSchema(inner.ofType) }
  return leafSchema(inner)
}

/** Converts output types into schemas, and collects the schemas of their objects by name. */
export function createOutputSchemas() {
  const components: Record<string, Schema> = {}

  function refTo(type: GraphQLObjectType): Reference {
    if (!(type.name in components)) {
      // Registered before its fields are converted, so that a type may contain itself.
      components[type.name] = {}
      const fields = Object.values(type.getFields())
      components[type.name] = objectOf(
        Object.fromEntries(
          fields.map(f => [f.name, described(outputSchema(f.type), f.description)]),
        ),
        type.description,
      )
    }
    return { $ref: `#/components/schemas/${type.name}` }
  }

  function outputSchema(type: GraphQLOutputType): SchemaOrRef {
    const inner = getNullableType(type)
    const schema = isListType(inner)
      ? { type: 'array' as const, items: outputSchema(inner.ofType) }
      : isObjectType(inner)
        ? refTo(inner)
        : leafSchema(inner)
    return isNonNullType(type) ? schema : orNull(schema)
  }

  return { components, outputSchema }
}

function orNull(schema: SchemaOrRef): Schema {
  if (schema === NOTHING) return NOTHING
  if ('$ref' in schema) return { nullable: true, allOf: [schema] }
  return { ...schema, nullable: true, ...(schema.enum ? { enum: [...schema.enum, null] } : {}) }
}

function leafSchema(type: GraphQLInputType | GraphQLOutputType): Schema {
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(v => v.name) }
  const schema = scalars[String(type)]
  if (!schema)
    throw new TypeError(
      `The type ${String(type)} has no JSON form. Add it to src/openapi/schema.ts.`,
    )
  return schema
}
