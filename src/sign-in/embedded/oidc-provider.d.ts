// The parts of oidc-provider that are imported by file. Its entry prints a warning on Node 20,
// where all that is used here works; and its in-memory adapter (bounded, with expiry) is not
// exported there.
declare module 'oidc-provider/lib/provider.js' {
  export { default as Provider } from 'oidc-provider'
}
declare module 'oidc-provider/lib/adapters/memory_adapter.js' {
  import type { AdapterFactory } from 'oidc-provider'

  /**
   * Makes a store of 1,000 to 2,000 entries, the least used of which go first, and entries that
   * expire.
   */
  export function createMemoryAdapter(clockToleranceSeconds?: number): AdapterFactory
}
