import { AppError, InvalidInput } from '../../runtime/errors.ts'

/**
 * The revision that the caller expects an entry to have, or a value of If-Match (RFC 9110, section
 * 13.1.1).
 */
export type ExpectedRevision = number | string | null | undefined

export const isGiven = (expected: ExpectedRevision): expected is number | string =>
  expected !== null && expected !== undefined

/**
 * Refuses a change if an entry does not have the expected revision. Call it with the tree locked.
 * @param entry undefined if it does not exist
 * @throws REVISION_MISMATCH, INVALID_INPUT
 */
export function requireRevision(
  entry: { revision: number } | undefined,
  expected: ExpectedRevision,
): void {
  if (!isGiven(expected)) return
  const matches = typeof expected === 'number' ? [expected] : revisionsOf(expected)
  if (entry && (matches === 'any' || matches.includes(entry.revision))) return
  throw revisionMismatch(entry)
}

/**
 * The revisions in an If-Match. Weak tags match nothing.
 * @throws INVALID_INPUT
 */
function revisionsOf(ifMatch: string): number[] | 'any' {
  if (ifMatch.trim() === '*') return 'any'
  return ifMatch.split(',').flatMap(part => {
    const [, weak, tag] = /^\s*(W\/)?"([^"]*)"\s*$/.exec(part) ?? []
    if (tag === undefined)
      throw new InvalidInput(
        'if_match',
        'If-Match must be the ETag of the entry to be changed, in quotes, such as "7".',
      )
    return !weak && /^\d{1,15}$/.test(tag) ? [Number(tag)] : []
  })
}

export const revisionMismatch = (entry: { revision: number } | undefined) =>
  new AppError(
    'REVISION_MISMATCH',
    entry
      ? `This entry was changed meanwhile: its revision is ${entry.revision}. Read it again before you change it.`
      : 'This entry no longer exists. Look for it again.',
    { revision: entry?.revision ?? null },
  )
