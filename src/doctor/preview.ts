import { misplacedPicturesAfter, placePicture } from '../../db/queries/picture.ts'
import { brokenPreviewsAfter, removeBrokenPreview } from '../../db/queries/preview.ts'
import { type Installation, type Problem, rowsOf } from './check.ts'

const PAGE = 500

/**
 * Checks that every preview has a live object and a content. Otherwise deletes the preview, because
 * it can be created again.
 */
export async function* checkPreviews({ db }: Installation): AsyncGenerator<Problem> {
  for await (const { id, unused } of rowsOf(after => brokenPreviewsAfter(db, after, PAGE)))
    yield {
      kind: 'preview-broken',
      id,
      message: unused
        ? 'No file has the content of this preview.'
        : 'The object of this preview is not in the ledger.',
      repair: () => db.transaction(tx => removeBrokenPreview(db, id, tx)),
    }
}

/**
 * Checks the sort time of pictures: the capture time in the preview, or else the upload time. Other
 * files have none.
 */
export async function* checkPictures({ db }: Installation): AsyncGenerator<Problem> {
  for await (const { id } of rowsOf(after => misplacedPicturesAfter(db, after, PAGE)))
    yield {
      kind: 'picture-misplaced',
      id,
      message: 'This file is not where it should be among the pictures of its drive.',
      repair: () => db.transaction(tx => placePicture(db, id, tx)),
    }
}
