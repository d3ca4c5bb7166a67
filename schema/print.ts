import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { lexicographicSortSchema, printSchema } from 'graphql'
import { schema } from './index.ts'

/**
 * The schema in the GraphQL schema language, for the tools of clients. It is sorted, so that diffs
 * show only real changes.
 */
export const printed = `${printSchema(lexicographicSortSchema(schema))}\n`

// Run as a program (npm run schema), it writes the checked-in file.
if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync('schema/schema.graphql', printed)
