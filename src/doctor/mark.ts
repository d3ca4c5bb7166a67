import {
  emptyFavouritesAfter,
  misplacedTagsAfter,
  removeEmptyFavourite,
  removeMisplacedTags,
} from '../../db/queries/doctor-mark.ts'
import { type Installation, type Problem, rowsOf } from './check.ts'

const PAGE = 500

/**
 * Checks that entries have only tags of their own drive, and that favourites refer to existing
 * entries. Foreign keys ensure this, except for rows that were changed by hand.
 */
export async function* checkMarks({ db }: Installation): AsyncGenerator<Problem> {
  for await (const { id } of rowsOf(after => misplacedTagsAfter(db, after, PAGE)))
    yield {
      kind: 'tag-misplaced',
      id,
      message: 'This entry has a tag that its drive does not have.',
      repair: () => removeMisplacedTags(db, id),
    }
  for await (const { id } of rowsOf(after => emptyFavouritesAfter(db, after, PAGE)))
    yield {
      kind: 'favourite-empty',
      id,
      message: 'This favourite is of nothing, or of an account that does not exist.',
      repair: () => removeEmptyFavourite(db, id),
    }
}
