import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  astFromValue,
  type GraphQLField,
  isObjectType,
  lexicographicSortSchema,
  parse,
  print,
  printSchema,
  visit,
} from 'graphql'
import { schema } from './index.ts'

const sorted = lexicographicSortSchema(schema)

/** The directives of a field, which graphql-js does not print. */
const directivesOf = ({ extensions }: GraphQLField<unknown, unknown>): string =>
  Object.entries(extensions.directives ?? {})
    .map(([name, given]) => {
      const args = sorted.getDirective(name)?.args.filter(arg => arg.name in given) ?? []
      const written = args.map(arg => {
        const value = astFromValue(given[arg.name], arg.type)
        return `${arg.name}: ${value ? print(value) : 'null'}`
      })
      return ` @${name}${written.length > 0 ? `(${written.join(', ')})` : ''}`
    })
    .join('')

/** The text of the schema, with the directives of its fields after their types. */
function withDirectivesOfFields(text: string): string {
  const parts: string[] = []
  let done = 0
  visit(parse(text), {
    ObjectTypeDefinition(type) {
      const declared = sorted.getType(type.name.value)
      if (!isObjectType(declared)) return
      for (const { name, loc } of type.fields ?? []) {
        const field = declared.getFields()[name.value]
        if (!field || !loc) continue
        parts.push(text.slice(done, loc.end), directivesOf(field))
        done = loc.end
      }
    },
  })
  return parts.join('') + text.slice(done)
}

/**
 * The schema in the GraphQL schema language, for the tools of clients. It is sorted, so that diffs
 * show only real changes.
 */
export const printed = `${withDirectivesOfFields(printSchema(sorted))}\n`

// Run as a program (npm run schema), it writes the checked-in file.
if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync('schema/schema.graphql', printed)
