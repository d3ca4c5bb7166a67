declare module 'virtual:graph' {
  import type { CacheExchangeOpts } from '@urql/exchange-graphcache'

  const schema: CacheExchangeOpts['schema']
  export default schema
}
