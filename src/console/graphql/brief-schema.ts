import type { CacheExchangeOpts } from '@urql/exchange-graphcache'

/**
 * A type of the schema, as briefly as the cache can do with: an introspection would be three times
 * as much for the browser to load. Last those fields that hold nulls, each with `?` where it may be
 * null, and with `*` where it is a list of what may be null: the cache takes a field that it does
 * not know for one that is never null.
 */
export type BriefType = [
  kind: 'OBJECT' | 'INTERFACE' | 'UNION',
  name: string,
  relatives: string,
  fields: string,
]

const words = (text: string) => text.split(' ').filter(Boolean)
const any = { kind: 'SCALAR', name: 'Any' } as const

/** A field with the shape of its type: the cache asks for no more. */
function fieldOf(text: string) {
  const list = text.includes('*') ? ({ kind: 'LIST', ofType: any } as const) : any
  const type = text.includes('?') ? list : ({ kind: 'NON_NULL', ofType: list } as const)
  return { name: text.replace(/\W+$/, ''), args: [], type }
}

/** The schema, as the cache takes it. */
export function readSchema(types: readonly BriefType[]): NonNullable<CacheExchangeOpts['schema']> {
  const named = (names: string) => words(names).map(name => ({ kind: 'OBJECT' as const, name }))
  return {
    __schema: {
      queryType: { name: 'Query' },
      mutationType: { name: 'Mutation' },
      subscriptionType: { name: 'Subscription' },
      types: types.map(([kind, name, relatives, fields]) =>
        kind === 'UNION'
          ? { kind, name, possibleTypes: named(relatives) }
          : { kind, name, interfaces: named(relatives), fields: words(fields).map(fieldOf) },
      ),
    },
  } as NonNullable<CacheExchangeOpts['schema']>
}
