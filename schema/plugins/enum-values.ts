import SchemaBuilder, {
  BasePlugin,
  PothosSchemaError,
  type PothosTypeConfig,
  type SchemaTypes,
} from '@pothos/core'
import { meanings } from '../meaning.ts'

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      enumValues: EnumValuesPlugin<Types>
    }
  }
}

/**
 * Describes the values of enums by `meaning.ts`, unless their enum does. The schema fails to build
 * if a value has no description, or if a description has no value.
 */
export class EnumValuesPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onTypeConfig(type: PothosTypeConfig): PothosTypeConfig {
    if (type.graphqlKind !== 'Enum') return type
    const known = meanings[type.name] ?? {}
    const stray = Object.keys(known).filter(name => !(name in type.values))
    if (stray.length > 0)
      throw new PothosSchemaError(`${type.name} has no value ${stray.join(', ')}.`)
    const values = Object.entries(type.values).map(([name, value]) => {
      const description = value.description ?? known[name]
      if (!description) throw new PothosSchemaError(`${type.name}.${name} has no description.`)
      return [name, { ...value, description }]
    })
    return { ...type, values: Object.fromEntries(values) }
  }
}

SchemaBuilder.registerPlugin('enumValues', EnumValuesPlugin)
