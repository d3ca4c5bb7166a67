import { recount } from '../../db/queries/doctor.ts'
import { brokenVersion, brokenVersionsAfter } from '../../db/queries/doctor-ledger.ts'
import { deleteVersions, versionsByIds } from '../../db/queries/version.ts'
import { type Installation, type Problem, rowsOf } from './check.ts'
import { inBucket, reviveBlob } from './repair.ts'

const PAGE = 500

/** Checks that every version has a file and a live blob. */
export async function* checkVersions({ db, store }: Installation): AsyncGenerator<Problem> {
  const broken = rowsOf(after => brokenVersionsAfter(db, after, PAGE))
  for await (const { id, bucketId, blobId, blobState, entryId } of broken)
    if (entryId === null)
      yield {
        kind: 'version-without-file',
        id,
        message: 'The file of this version does not exist.',
        repair: () =>
          inBucket(db, bucketId, async tx => {
            if ((await brokenVersion(db, id, tx))?.entryId !== null) return
            await deleteVersions(db, bucketId, await versionsByIds(db, [id], tx), tx)
            await recount(db, bucketId, tx)
          }),
      }
    else
      yield {
        kind: 'version-without-blob',
        id,
        message: `This version names the object ${blobId}, which ${blobState ? `is ${blobState}` : 'has no row in the ledger'}.`,
        repair: () => reviveBlob({ db, store }, bucketId, blobId),
      }
}
