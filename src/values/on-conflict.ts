import { InvalidInput } from '../runtime/errors.ts'

/** The action when the name is already taken. */
export const onConflicts = ['fail', 'keep_both', 'replace'] as const
export type OnConflict = (typeof onConflicts)[number]

/** @throws INVALID_INPUT */
export function parseOnConflict(text: string | null | undefined): OnConflict {
  const found = onConflicts.find(one => one === (text || 'fail'))
  if (!found)
    throw new InvalidInput('on_conflict', `"on_conflict" is one of ${onConflicts.join(', ')}.`)
  return found
}
