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

/** Copies shared entries to drives of people who may see them. */
export function shareSaveService({ entryCopies, shareEvents, shareLinks }: Deps) {
  return {
    /**
     * Copies a share: all of it, or some entries of a shared folder. Counts as one download. Does
     * not authorize the destination: the caller must be allowed to write there.
     * @param paths from the shared folder; none for everything
     * @throws the errors of entryCopies.copy() and shareLinks.open()
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
