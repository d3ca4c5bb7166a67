import { validate as isUuid } from 'uuid'
import { keyById } from '../values/key-by-id.ts'

/**
 * Rows by ids that clients name. What is no UUID is not looked for: MySQL fails to compare an ASCII
 * column with a text that is not ASCII.
 * @param load is called with one id or more
 */
export async function rowsById<T extends { id: string }>(
  given: readonly string[],
  load: (ids: string[]) => Promise<T[]>,
): Promise<Map<string, T>> {
  const ids = given.filter(id => isUuid(id))
  return keyById(ids.length > 0 ? await load(ids) : [])
}
