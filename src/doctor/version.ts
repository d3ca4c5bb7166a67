import { lockBucket } from '../../db/queries/bucket.ts'
import { recount } from '../../db/queries/doctor.ts'
import { type BrokenVersion, brokenVersion, brokenVersionsAfter } from '../../db/queries/doctor-ledger.ts'
import { deleteVersions, versionsByIds } from '../../db/queries/version.ts'
import { type Installation, type Problem, pages } from './check.ts'
import { reviveBlob } from './repair.ts'

const PAGE = 500

/** Every version has a file and a living blob. */
export async function* checkVersions({ db, store }: Installation): AsyncGenerator<Problem> {
  const page = (last: BrokenVersion | undefined) => brokenVersionsAfter(db, last?.id ?? '', PAGE)
  for await (const rows of pages(page))
    for (const { id, bucketId, blobId, blobState, entryId } of rows)
      if (entryId === null)
        yield {
          kind: 'version-without-file',
          id,
          message: 'The file of this version does not exist.',
          repair: () =>
            db.transaction(async tx => {
              await lockBucket(db, bucketId, tx)
              if ((await brokenVersion(db, id, tx))?.entryId !== null) return true
              await deleteVersions(db, bucketId, await versionsByIds(db, [id], tx), tx)
              await recount(db, bucketId, tx)
              return true
            }),
        }
      else
        yield {
          kind: 'version-without-blob',
          id,
          message: `This version names the object ${blobId}, which ${blobState ? `is ${blobState}` : 'has no row in the ledger'}.`,
          repair: async () => {
            const object = await store.look(blobId)
            if (!object) return false
            await db.transaction(tx => reviveBlob(db, bucketId, blobId, object.size, tx))
            return true
          },
        }
}
