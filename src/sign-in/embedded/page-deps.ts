import type { Db } from '../../../db/index.ts'
import type { Caller, Origin } from '../../access/caller.ts'
import type { ShownBrand } from '../../http/brand.ts'
import type { Incoming } from '../../http/incoming.ts'
import type { Log } from '../../runtime/log.ts'
import type { Tokens } from '../../runtime/tokens.ts'
import type { Services } from '../../services/index.ts'
import type { AccountsProvider } from './accounts-provider.ts'
import type { SignInCookies } from './cookies.ts'
import type { Visit } from './page-kit.ts'

export interface OwnAccountsOptions {
  services: Services
  db: Db
  tokens: Tokens
  publicUrl: string
  /** The origin at which this process reaches itself. */
  ownUrl: string
  secure: boolean
  originOf: (req: Incoming['req'], address: string) => Origin
  findCaller: (req: Incoming['req']) => Promise<Caller | null>
  /** The names of the other providers. Accounts from them confirm changes by signing in again. */
  otherProviders: string[]
  brand: ShownBrand
  log: Log
}

/** The dependencies of the pages. */
export interface PageDeps extends OwnAccountsOptions {
  provider: AccountsProvider
  cookies: SignInCookies
}

export type Handler = (visit: Visit, token: string) => Promise<void>
export type Pages = [method: 'GET' | 'POST', path: string, handle: Handler][]
