import '../plugins/rest.ts'
import SchemaBuilder, {
  type ArgBuilder,
  type InputFieldMap,
  type InputShapeFromFields,
  type ObjectFieldsShape,
} from '@pothos/core'
import ScopeAuthPlugin from '@pothos/plugin-scope-auth'
import { Kind, type ObjectTypeDefinitionNode } from 'graphql'
import type { Attachment } from '../../src/services/accounts/account-export.ts'
import type { Download } from '../../src/services/sharing/download.ts'
import type { PreviewBytes } from '../../src/services/tree/preview.ts'
import { type BaseTypes, base } from '../base.ts'
import { scalars } from '../scalars.ts'

export interface RestTypes extends BaseTypes {
  Scalars: BaseTypes['Scalars'] & {
    /** A size or a count beyond 32 bits. */
    Long: { Input: number; Output: number }
    Labels: { Input: never; Output: Record<string, string> }
    Void: { Input: never; Output: null }
    /** A file, sent as bytes or by a redirect. */
    Download: { Input: never; Output: Download }
    /** A thumbnail, whose bytes the service sends itself. */
    Picture: { Input: never; Output: PreviewBytes }
    /** A JSON file that is generated while it is sent. */
    Attachment: { Input: never; Output: Attachment }
  }
}

/**
 * The REST operations, with the names that are on the wire. It has its own builder, because its
 * types have the same names as those of GraphQL.
 */
export const builder = new SchemaBuilder<RestTypes>({
  ...base,
  plugins: [
    'access',
    ScopeAuthPlugin,
    'maintenance',
    'rateLimit',
    'rest',
    'requireAuth',
    'listBound',
  ],
})

export type Types = typeof builder.$inferSchemaTypes

/** Makes arguments that several fields share. */
export type Argument = ArgBuilder<Types>

/** The values that resolvers receive for arguments made by such a function. */
export type Given<Made extends (arg: Argument, ...more: never) => InputFieldMap> =
  InputShapeFromFields<ReturnType<Made>>

/** The context of a resolver whose drive is open. */
export type DriveContext = RestTypes['AuthContexts']['drive']

/** Makes fields that several objects share. */
export type ObjectFields<Parent> = PothosSchemaTypes.ObjectFieldBuilder<Types, Parent>

/**
 * An object in responses. The last argument is its fields; an optional description precedes them.
 */
export function objectOf<Shape extends object>(
  name: string,
  ...about: [ObjectFieldsShape<Types, Shape>] | [string, ObjectFieldsShape<Types, Shape>]
) {
  const ref = builder.objectRef<Shape>(name)
  return about.length === 1
    ? ref.implement({ fields: about[0] })
    : ref.implement({ description: about[0], fields: about[1] })
}

builder.scalarType('Long', scalars.Long)
builder.scalarType('Labels', scalars.Labels)
builder.scalarType('Void', scalars.Void)
builder.scalarType('DateTime', scalars.DateTime)
builder.scalarType('Upload', scalars.Upload)
builder.scalarType('Download', {
  description: 'A file: the router redirects to its signed URL, or sends its bytes.',
  serialize: download => download,
})
builder.scalarType('Picture', {
  description: 'A small picture: the router sends its bytes.',
  serialize: picture => picture,
})
builder.scalarType('Attachment', {
  description: 'A JSON file: the router sends it as it is made, without an envelope.',
  serialize: attachment => attachment,
})

/**
 * Without its own AST node, SOFA would print and parse a whole root type for each argument, to
 * build a document that is never served.
 */
const emptyNode = (name: string): ObjectTypeDefinitionNode => ({
  kind: Kind.OBJECT_TYPE_DEFINITION,
  name: { kind: Kind.NAME, value: name },
  fields: [],
})

builder.queryType({ astNode: emptyNode('Query') })
builder.mutationType({ astNode: emptyNode('Mutation') })
