import type { Caller } from './auth/caller.ts'
import type { Log } from './log.ts'
import type { Download } from './services/download.ts'
import type { Services } from './services/index.ts'

/** What every resolver is given besides its arguments. */
export interface Context {
  services: Services
  caller: Caller | null
  /** Client address, as believed after the trusted proxies. */
  address: string
  /** Looks the credential up again, for what outlives the moment. */
  callerNow(): Promise<Caller | null>
  log: Log
  signal: AbortSignal
  /** HEAD looks without taking: nothing is counted then. */
  looksOnly: boolean
  /** Where a REST route leaves what it redirects to. */
  download?: Download
}
