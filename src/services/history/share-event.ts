import { v7 as newId } from 'uuid'
import type { Db } from '../../../db/index.ts'
import type { ShareEventKind } from '../../../db/models/share-event.ts'
import type { Page } from '../../../db/queries/page.ts'
import { insertShareEvents, pagesOfShareEvents, type ShareEventRow } from '../../../db/queries/share-event.ts'
import type { Caller } from '../../access/caller.ts'
import { deviceOf } from '../../device.ts'
import type { Log } from '../../log.ts'
import { truncateAddress } from '../../network.ts'

/** Who uses a share. */
export interface ShareUser {
  caller: Caller | null
  /** IP address; of which the network is kept. */
  address: string
  /** What the client calls itself: its User-Agent. */
  client?: string | undefined
  log: Log
}

/** Milliseconds after which a use is shown: by then all uses are committed whose ids, which are given before, sort before its id. */
const SETTLED_MS = 10_000
/** Uses that one statement inserts. */
const AT_ONCE = 500

/** The uses of shares, which their sharers read. No use waits for another one, and none makes a drive wait. */
export function shareEventService({ db }: { db: Db }) {
  const waiting: ShareEventRow[] = []
  let writing: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined

  /** Writes what has come while the statement before was under way. */
  function flush(): Promise<void> {
    next ??= writing.then(() => {
      next = undefined
      const some = waiting.splice(0, AT_ONCE)
      const written = insertShareEvents(db, some)
      writing = written.catch(() => {})
      return written
    })
    return next
  }

  return {
    /** Notes a use of a share. Never throws: a failure to note it refuses no one the file. */
    async note(shareId: string, kind: ShareEventKind, { caller, address, client, log }: ShareUser): Promise<void> {
      const id = newId()
      const by = { personId: caller?.userId ?? null, network: truncateAddress(address), client: deviceOf(client) }
      waiting.push({ id, shareId, at: Date.now(), kind, ...by })
      try {
        while (waiting.some(use => use.id === id)) await flush()
        await writing
      } catch (error) {
        log.warn({ err: error, share_id: shareId }, 'could not note a use of a share')
      }
    },

    /** The uses of some shares until ten seconds ago, by the id of the share. Does not authorize: pass only shares of the caller. */
    pages: (
      shareIds: string[],
      range: { limit: number; after: string | null; newestFirst: boolean },
    ): Promise<Map<string, Page<ShareEventRow>>> =>
      pagesOfShareEvents(db, shareIds, { ...range, until: Date.now() - SETTLED_MS }),
  }
}

export type ShareEventService = ReturnType<typeof shareEventService>
