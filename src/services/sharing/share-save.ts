import type { Tx } from '../../../db/index.ts'
import type { Caller } from '../../access/caller.ts'
import type { Core } from '../core.ts'
import type { ShareEventService } from '../history/share-event.ts'
import type { CopyOptions } from '../tree/copy-arrival.ts'
import type { Copied, EntryCopyService } from '../tree/entry-copy.ts'
import { locateEntries } from '../tree/entry-location.ts'
import type { EntryName } from '../tree/entry-path.ts'
import type { ShareLinkService, Visitor } from './share-link.ts'

interface Deps extends Core<'db'> {
  entryCopies: EntryCopyService
  shareEvents: ShareEventService
  shareLinks: ShareLinkService
}

/** Copies of what others share, in drives of those who may see it. */
export function shareSaveService({ db, entryCopies, shareEvents, shareLinks }: Deps) {
  return {
    /**
     * Copies what is shared, or some of what is in a shared folder. Counts as one download. Does not authorize the place: pass one where
     * the caller may write.
     * @param paths from the shared folder; none for the whole
     * @throws as entryCopies.copy(), and as shareLinks.open()
     */
    async save(
      token: string,
      visitor: Visitor & { caller: Caller },
      paths: readonly string[],
      to: CopyOptions,
    ): Promise<Copied> {
      const share = await shareLinks.find(token)
      const { id, bucketId, rootId, entryId } = share
      const { password: _password, ...user } = visitor
      const pass = await shareLinks.passFor(share, visitor)
      const below = paths.map((path): EntryName => ({ path }))
      const admit = async (tx: Tx): Promise<EntryName[]> => {
        await shareLinks.take(id, { ...user, pass }, tx)
        if (below.length === 0) return [{ id: entryId }]
        // Named from the shared entry down, so that nothing above or beside it can be.
        const found = await locateEntries(db, { bucketId, rootId: entryId }, below, tx, { field: 'paths' })
        return found.map(({ node }) => ({ id: node.id }))
      }
      const named = below.length > 0 ? below : [{ id: entryId }]
      const source = { tree: { bucketId, rootId }, named, share: { id, entryId }, admit }
      const done = await entryCopies.copy(source, to, visitor.caller)
      await shareEvents.note(id, 'downloaded', user)
      return done
    },
  }
}
