import './plugins/cost.ts'
import SchemaBuilder, { type ArgBuilder } from '@pothos/core'
import RelayPlugin from '@pothos/plugin-relay'
import ScopeAuthPlugin from '@pothos/plugin-scope-auth'
import type { Caller } from '../src/access/caller.ts'
import { Unauthenticated } from '../src/runtime/errors.ts'
import { type BaseTypes, base } from './base.ts'
import type { Context } from './context.ts'
import { scalars } from './scalars.ts'

export interface GraphTypes extends BaseTypes {
  DefaultEdgesNullability: { list: false; items: false }
  Scalars: BaseTypes['Scalars'] & {
    /** Sizes beyond 32 bits. */
    Bytes: { Input: number; Output: number }
    URL: { Input: string; Output: string }
  }
}

export const builder = new SchemaBuilder<GraphTypes>({
  ...base,
  plugins: ['access', ScopeAuthPlugin, RelayPlugin, 'rateLimit', 'requireAuth', 'listBound', 'cost'],
  relay: {
    clientMutationId: 'omit',
    cursorType: 'String',
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    edgesFieldOptions: { nullable: { list: false, items: false }, description: 'The nodes with their places.' },
    nodeFieldOptions: { description: 'The node.' },
    cursorFieldOptions: { description: 'Where it stands: the page `after` it begins with the next one.' },
    pageInfoFieldOptions: { description: 'Whether and where the list goes on.' },
    pageInfoTypeOptions: { description: 'Whether and where a list goes on.' },
    hasNextPageFieldOptions: { description: 'Whether more nodes follow.' },
    hasPreviousPageFieldOptions: { description: 'Whether nodes stand before this page.' },
    startCursorFieldOptions: { description: 'Where the page begins; null for an empty one.' },
    endCursorFieldOptions: { description: 'Where the page ends: `after` of the next one.' },
    nodesOnConnection: { description: 'The nodes of the edges.' },
  },
})

export type Types = typeof builder.$inferSchemaTypes
export type ArgFields = ArgBuilder<Types>
export type InputFields = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>

/** The type of the field builder of objects, for fields that several of them share. */
export type ObjectFields<Parent> = PothosSchemaTypes.ObjectFieldBuilder<Types, Parent>

/** The caller of a field that reads it before its rules have. @throws UNAUTHENTICATED */
export function signedIn({ caller }: Context): Caller {
  if (!caller) throw new Unauthenticated()
  return caller
}

builder.scalarType('Bytes', scalars.Bytes)
builder.scalarType('DateTime', scalars.DateTime)
builder.scalarType('URL', scalars.URL)
builder.scalarType('Upload', scalars.Upload)

builder.queryType({ description: 'What can be read. Reading changes nothing.' })
builder.mutationType({
  description: 'What can be changed. Each takes one input, and answers the nodes that it has changed.',
})
builder.subscriptionType({ description: 'What can be waited for, as server-sent events.' })
