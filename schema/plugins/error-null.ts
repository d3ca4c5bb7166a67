import SchemaBuilder, {
  BasePlugin,
  type PothosOutputFieldConfig,
  type SchemaTypes,
} from '@pothos/core'
import { withDirective } from '../directive.ts'

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      errorNull: ErrorNullPlugin<Types>
    }
  }
}

/** The types whose fields are independent requests. Operators read theirs below one field. */
const ROOTS = ['Query', 'Mutation', 'OperatorView']

/**
 * Makes root fields nullable, so that a refused field does not erase the results of the others in
 * its request. A field that is declared as non-null is null only with an error; the schema says so
 * with `@semanticNonNull`.
 */
export class ErrorNullPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(
    field: PothosOutputFieldConfig<Types>,
  ): PothosOutputFieldConfig<Types> {
    if (!ROOTS.includes(field.parentType) || field.type.nullable) return field
    return {
      ...field,
      type: { ...field.type, nullable: true },
      extensions: withDirective(field.extensions, 'semanticNonNull'),
    }
  }
}

SchemaBuilder.registerPlugin('errorNull', ErrorNullPlugin)
