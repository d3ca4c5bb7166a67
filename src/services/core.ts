import type { Db } from '../../db/index.ts'
import type { Coordination } from '../coordination/coordination.ts'
import type { Log } from '../runtime/log.ts'
import type { Tokens } from '../runtime/tokens.ts'
import type { BlobStore } from '../storage/store.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { ChangeRunner } from './history/event.ts'
import type { PubSub } from './notices/pub-sub.ts'

/** The shared dependencies of services. */
interface Parts {
  db: Db
  store: BlobStore
  log: Log
  coordination: Coordination
  tokens: Tokens
  pubSub: PubSub
  change: ChangeRunner
  telemetry: Telemetry
  /** The origin of the service, without a trailing slash. */
  publicUrl: () => string
  /** Wakes the worker of the outbox after a job was queued. */
  wake: () => void
}

export type Core<Needed extends keyof Parts = keyof Parts> = Pick<Parts, Needed>
