import './plugins/cost.ts'
import './plugins/enum-values.ts'
import './plugins/error-null.ts'
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
    /** Numbers by step; null for a step without one. */
    Figures: { Input: never; Output: readonly (number | null)[] }
  }
}

export const builder = new SchemaBuilder<GraphTypes>({
  ...base,
  plugins: [
    'access',
    ScopeAuthPlugin,
    RelayPlugin,
    'maintenance',
    'rateLimit',
    'requireAuth',
    'listBound',
    'cost',
    'errorNull',
    'enumValues',
  ],
  relay: {
    clientMutationId: 'omit',
    cursorType: 'String',
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    edgesFieldOptions: {
      nullable: { list: false, items: false },
      description: 'The nodes with their cursors.',
    },
    nodeFieldOptions: { description: 'The node.' },
    cursorFieldOptions: {
      description: 'Its cursor: pass it as `after` to get the page that follows.',
    },
    pageInfoFieldOptions: { description: 'Whether and where the list continues.' },
    pageInfoTypeOptions: { description: 'Whether and where a list continues.' },
    hasNextPageFieldOptions: { description: 'Whether more nodes follow.' },
    hasPreviousPageFieldOptions: { description: 'Whether nodes precede this page.' },
    startCursorFieldOptions: { description: 'Cursor of the first node; null for an empty page.' },
    endCursorFieldOptions: {
      description: 'Cursor of the last node: pass it as `after` to get the next page.',
    },
    nodesOnConnection: { description: 'The nodes of the edges.' },
  },
})

export type Types = typeof builder.$inferSchemaTypes
export type ArgFields = ArgBuilder<Types>
export type InputFields = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>

/** The type of the field builder of objects, for fields that several objects share. */
export type ObjectFields<Parent> = PothosSchemaTypes.ObjectFieldBuilder<Types, Parent>

/** The caller of a field that reads it before its rules have. @throws UNAUTHENTICATED */
export function signedIn({ caller }: Context): Caller {
  if (!caller) throw new Unauthenticated()
  return caller
}

builder.scalarType('Bytes', scalars.Bytes)
builder.scalarType('DateTime', scalars.DateTime)
builder.scalarType('URL', scalars.URL)
builder.scalarType('Figures', scalars.Figures)
builder.scalarType('Upload', scalars.Upload)

builder.queryType({ description: 'The operations that read data.' })
builder.mutationType({
  description:
    'The operations that change data. Each takes one input and returns the changed nodes.',
})
builder.subscriptionType({
  description: 'The events that clients can subscribe to, as server-sent events.',
})
