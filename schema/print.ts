import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { lexicographicSortSchema, printSchema } from 'graphql'
import { schema } from './index.ts'

/**
 * The schema in GraphQL's own language, for the tools of clients; sorted, so that a change shows as
 * what it is.
 */
export const printed = `${printSchema(lexicographicSortSchema(schema))}\n`

// As a program (npm run schema, in the root of the project) it writes the file that is checked in.
if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync('schema/schema.graphql', printed)
