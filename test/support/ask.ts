import { expect } from '@jest/globals'
import type { Person } from './harness.ts'

/** Runs a GraphQL operation that must succeed. Returns its data. */
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
 * Runs a GraphQL operation that may fail. Returns the code of the first error, or undefined if
 * there is no error.
 */
export const codeOf = async (
  person: Person,
  query: string,
  variables: object = {},
): Promise<string | undefined> => (await person.graphql(query, variables)).code
