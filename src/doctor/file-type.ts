import { buffer } from 'node:stream/consumers'
import { filesOfTypesAfter, setFileType } from '../../db/queries/file-type.ts'
import { placePicture } from '../../db/queries/picture.ts'
import { correctedType } from '../formats/media-type.ts'
import { START_BYTES } from '../formats/signature.ts'
import { BlobMissing } from '../storage/store.ts'
import { type Installation, type Problem, rowsOf } from './check.ts'

const PAGE = 500
/** Types that earlier versions stored although they say nothing, or for sources in TypeScript. */
const suspect = [
  'application/octet-stream',
  'binary/octet-stream',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'application/unknown',
  'application/force-download',
  'image/heic',
  'video/mp2t',
  'video/vnd.dlna.mpeg-tts',
]

/** Checks that the first bytes of files do not contradict their stored media types. */
export async function* checkFileTypes({ db, store }: Installation): AsyncGenerator<Problem> {
  for await (const file of rowsOf(after => filesOfTypesAfter(db, suspect, after, PAGE))) {
    const { id, blobId, name, fileType, size } = file
    const count = Math.min(size, START_BYTES)
    // A missing object is another finding.
    const start = await store
      .open(blobId, { offset: 0, count })
      .then(buffer)
      .catch(error => {
        if (error instanceof BlobMissing) return undefined
        throw error
      })
    const type = start && correctedType(fileType, name, start)
    if (!type || type === fileType) continue
    yield {
      kind: 'media-type-wrong',
      id,
      message: `The bytes of this file are of the type ${type}, and not ${fileType}.`,
      repair: () =>
        db.transaction(async tx => {
          if (await setFileType(db, file, type, tx)) await placePicture(db, id, tx)
        }),
    }
  }
}
