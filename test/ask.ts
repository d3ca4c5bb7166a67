import { expect } from '@jest/globals'
import type { Person } from './harness.ts'

/** Asks by GraphQL for something that is not refused; answers the data. */
export async function ask(
  person: Person,
  query: string,
  variables: object = {},
  file?: File,
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
): Promise<any> {
  const { data, errors } = await person.graphql(query, variables, file)
  expect(errors).toBeUndefined()
  return data
}

/**
 * Asks by GraphQL for something that is refused; answers the code of the first error, or undefined
 * when there is none.
 */
export const codeOf = async (
  person: Person,
  query: string,
  variables: object = {},
): Promise<string | undefined> => (await person.graphql(query, variables)).code
