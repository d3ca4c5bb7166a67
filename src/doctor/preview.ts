import { misplacedPicturesAfter, placePicture } from '../../db/queries/picture.ts'
import { brokenPreviewsAfter, removeBrokenPreview } from '../../db/queries/preview.ts'
import { type Installation, type Problem, rowsOf } from './check.ts'

const PAGE = 500

/**
 * Every preview has a living object, and a content. Without one of them it is deleted: previews can
 * always be made again.
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
 * Every picture is sorted by when it was taken, as its preview says, and otherwise by when it was
 * uploaded; other files by nothing.
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
