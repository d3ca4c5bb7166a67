import type { CacheExchangeOpts } from '@urql/exchange-graphcache'

/**
 * A type of the schema in a compact form: a third of the size of an introspection result. The last
 * item lists the nullable fields: `?` marks a nullable field and `*` a list with nullable items.
 * The cache treats unknown fields as non-null.
 */
export type BriefType = [
  kind: 'OBJECT' | 'INTERFACE' | 'UNION',
  name: string,
  relatives: string,
  fields: string,
]

const words = (text: string) => text.split(' ').filter(Boolean)
const any = { kind: 'SCALAR', name: 'Any' } as const

/** A field without its exact type. The cache needs no more. */
function fieldOf(text: string) {
  const list = text.includes('*') ? ({ kind: 'LIST', ofType: any } as const) : any
  const type = text.includes('?') ? list : ({ kind: 'NON_NULL', ofType: list } as const)
  return { name: text.replace(/\W+$/, ''), args: [], type }
}

/** Expands the compact schema into the form that the cache expects. */
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
