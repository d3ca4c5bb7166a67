import { readFileSync } from 'node:fs'
import { type DocumentNode, Kind, parse, visit } from 'graphql'

const file = new URL('../../../schema/schema.graphql', import.meta.url)

/**
 * `schema/schema.graphql` for clients that never read a field with an error. For such a client,
 * fields marked with `@semanticNonNull` are non-null.
 */
export const strictSchema = (): DocumentNode =>
  visit(parse(readFileSync(file, 'utf8')), {
    FieldDefinition(field) {
      const isStrict = field.directives?.some(({ name }) => name.value === 'semanticNonNull')
      if (!isStrict || field.type.kind === Kind.NON_NULL_TYPE) return
      return { ...field, type: { kind: Kind.NON_NULL_TYPE as const, type: field.type } }
    },
  })
