// The parts of oidc-provider that are imported by file. The main entry prints a warning on Node 20,
// where everything used here works, and does not export the in-memory adapter (bounded, with
// expiry).
declare module 'oidc-provider/lib/provider.js' {
  export { default as Provider } from 'oidc-provider'
}
declare module 'oidc-provider/lib/adapters/memory_adapter.js' {
  import type { AdapterFactory } from 'oidc-provider'

  /**
   * Creates an LRU store of 1,000 to 2,000 entries, which also expire.
   */
  export function createMemoryAdapter(clockToleranceSeconds?: number): AdapterFactory
}
