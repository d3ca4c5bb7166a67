import type { Tx } from '../../../db/index.ts'
import type { Caller } from '../../access/caller.ts'
import type { ShareEventService } from '../history/share-event.ts'
import type { CopyOptions } from '../tree/copy-arrival.ts'
import type { Copied, EntryCopyService } from '../tree/entry-copy.ts'
import type { ShareLinkService, Visitor } from './share-link.ts'

interface Deps {
  entryCopies: EntryCopyService
  shareEvents: ShareEventService
  shareLinks: ShareLinkService
}

/** Copies of what others share, in drives of those who may see it. */
export function shareSaveService({ entryCopies, shareEvents, shareLinks }: Deps) {
  return {
    /**
     * Copies what is shared, all entries of a share of several, or some of what is in a shared
     * folder. Counts as one download. Does not authorize the place: pass one where the caller may
     * write.
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
      const { id, bucketId, rootId } = share
      const { password: _password, ...user } = visitor
      const pass = await shareLinks.passFor(share, visitor)
      const source = {
        tree: { bucketId, rootId },
        shareId: id,
        isOne: paths.length === 1 || (paths.length === 0 && share.entryCount === null),
        admit: async (tx: Tx) =>
          shareLinks.copied(await shareLinks.take(id, { ...user, pass }, tx), paths, tx),
      }
      const done = await entryCopies.copy(source, to, visitor.caller)
      await shareEvents.note(id, 'downloaded', user)
      return done
    },
  }
}
