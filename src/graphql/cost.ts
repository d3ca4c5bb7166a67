import type { GraphQLNamedType } from 'graphql'
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  typeFromAST,
  type ValueNode,
} from 'graphql'
import { DEFAULT_FIRST, MAX_FIRST, MAX_NESTED } from '../../schema/paging.ts'
import { MAX_PAGE } from '../values/limits.ts'
import { type Length, lengthOfGiven } from './given.ts'
import { createMetaSizes } from './meta-sizes.ts'
import { scanOf } from './scans.ts'

/**
 * The cost of the parts of a response: a value or an object, an aliased value (aliases can repeat
 * it), and an object or value in a list.
 */
const VALUE = 1
const RENAMED_VALUE = 5
const ITEM = 5
const LEAF_ITEM = 2
/**
 * Introspection is available to every caller in any size, so it costs more, and callers request it
 * once.
 */
const OF_SCHEMA = 5

/** The assumed length of a list without pages and without `listSize` in its extensions. */
const DEFAULT_LIST = 100

/** The arguments that set the page length: the default and the maximum. */
const pageArguments: Record<string, { normal: number; most: number }> = {
  first: { normal: DEFAULT_FIRST, most: MAX_FIRST },
  last: { normal: DEFAULT_FIRST, most: MAX_FIRST },
  limit: { normal: MAX_PAGE, most: MAX_PAGE },
}

type Variables = Record<string, unknown>

/** The length of the lists of a page. Equal lengths have the same `key`. */
interface Size {
  key: string
  of: Length
}

/** The list lengths that the enclosing selection determines. */
interface Enclosing {
  page?: Size | undefined
  /** The mutation that has this payload. */
  mutation?: FieldNode | undefined
  /** Within the list of all types, a type's lists count with their average length. */
  ofAllTypes?: boolean
}

/** The cost of a selection for each of its objects. */
interface Part {
  values: number
  /**
   * The cost of the rows that its fields scan. It counts once for all objects, because each row
   * belongs to one of them.
   */
  scans: Length[]
  lists: { length: Length; paged: boolean; item: Part }[]
  /** Each fragment is kept once, however many spreads refer to it. */
  spreads: Part[]
  /** The number of fields with all fragments expanded. */
  fields: number
}

const emptyPart = (): Part => ({ values: 0, scans: [], lists: [], spreads: [], fields: 0 })

/** The maximum cost of an operation, known before it runs. */
export interface OperationCost {
  /** The cost with these variables, which need not be coerced yet. */
  of(variables: Variables): number
  /**
   * The number of fields with all fragments expanded, which determines the size of compiled code.
   */
  fields: number
}

/**
 * Measures operations: counts every value, object and item that the response may have, with lists
 * of page length, by aliases, fragments and nesting. A fragment is measured once for each object
 * count in which it is spread. MAX_NESTED keeps these counts few.
 */
export function createCosts(schema: GraphQLSchema) {
  const metaSize = createMetaSizes(schema)
  const measured = new WeakMap<OperationDefinitionNode, OperationCost>()

  function lengthOf(
    field: GraphQLField<unknown, unknown>,
    node: FieldNode,
    parent: GraphQLNamedType,
    { page, mutation, ofAllTypes }: Enclosing,
  ): Length {
    const { listSize, sizedBy } = field.extensions
    if (page) return page.of
    if (listSize !== undefined)
      return sizedBy ? lengthOfGiven(mutation ?? node, sizedBy, listSize) : listSize
    return metaSize(parent.name, field.name, ofAllTypes ?? false) ?? DEFAULT_LIST
  }

  function readOperation(document: DocumentNode, operation: OperationDefinitionNode): Part {
    const fragments = new Map<string, FragmentDefinitionNode>()
    for (const node of document.definitions)
      if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node)
    const defaults = new Map<string, ValueNode | undefined>()
    for (const { variable, defaultValue } of operation.variableDefinitions ?? [])
      defaults.set(variable.name.value, defaultValue)
    const spreads = new Map<string, Part>()

    function readSelection(
      node: SelectionSetNode,
      type: GraphQLNamedType,
      enclosing: Enclosing,
      into: Part,
    ): Part {
      for (const selection of node.selections) {
        if (selection.kind === Kind.FIELD) readField(selection, type, enclosing, into)
        else if (selection.kind === Kind.FRAGMENT_SPREAD) {
          const part = readSpread(selection.name.value, enclosing)
          into.spreads.push(part)
          into.fields += part.fields
        } else {
          const inner = selection.typeCondition
            ? typeFromAST(schema, selection.typeCondition)
            : type
          if (inner) readSelection(selection.selectionSet, inner, enclosing, into)
        }
      }
      return into
    }

    function readSpread(name: string, enclosing: Enclosing): Part {
      const { page, mutation, ofAllTypes } = enclosing
      const key = `${name} ${page?.key} ${mutation?.alias?.value ?? mutation?.name.value} ${ofAllTypes}`
      const known = spreads.get(key)
      if (known) return known
      const fragment = fragments.get(name)
      const type = fragment && typeFromAST(schema, fragment.typeCondition)
      // Validation has refused cycles. Without it, a cycle would stop here.
      spreads.set(key, emptyPart())
      const made =
        fragment && type
          ? readSelection(fragment.selectionSet, type, enclosing, emptyPart())
          : emptyPart()
      spreads.set(key, made)
      return made
    }

    function readField(
      node: FieldNode,
      parent: GraphQLNamedType,
      enclosing: Enclosing,
      into: Part,
    ): void {
      into.fields++
      const field = fieldOf(schema, parent, node.name.value)
      const type = field && getNamedType(field.type)
      const isLeaf = !field || isLeafType(type)
      const isList = field && isListType(getNullableType(field.type))
      const weight = parent.name.startsWith('__') ? OF_SCHEMA : 1
      if (!isList) into.values += weight * (isLeaf && node.alias ? RENAMED_VALUE : VALUE)
      if (!field || !type) return
      into.values += field.extensions.cost ?? 0
      const scan = scanOf(field, node, defaults)
      if (scan !== 0) into.scans.push(scan)
      const page = pageOf(field, node, defaults)
      const mutation = parent === schema.getMutationType() ? node : undefined
      const within = {
        page,
        mutation,
        ofAllTypes: field.name === 'types' && parent.name === '__Schema',
      }
      const inner = isList
        ? {
            ...emptyPart(),
            values: weight * (isLeaf ? (node.alias ? RENAMED_VALUE : LEAF_ITEM) : ITEM),
          }
        : into
      const before = inner.fields
      if (node.selectionSet) readSelection(node.selectionSet, type, within, inner)
      if (!isList) return
      into.fields += inner.fields - before
      into.lists.push({
        length: lengthOf(field, node, parent, enclosing),
        paged: enclosing.page !== undefined,
        item: inner,
      })
    }

    const root = schema.getRootType(operation.operation)
    return root ? readSelection(operation.selectionSet, root, {}, emptyPart()) : emptyPart()
  }

  return (document: DocumentNode, operation: OperationDefinitionNode): OperationCost => {
    const known = measured.get(operation)
    if (known) return known
    const part = readOperation(document, operation)
    const whole = isFixed(part) ? total(part, 1, {}) : undefined
    const made = {
      of: (variables: Variables) => whole ?? total(part, 1, variables),
      fields: part.fields,
    }
    measured.set(operation, made)
    return made
  }
}

/** Whether no variable changes what a selection costs. */
function isFixed(part: Part, seen = new Set<Part>()): boolean {
  if (seen.has(part)) return true
  seen.add(part)
  return (
    part.scans.every(scan => typeof scan === 'number') &&
    part.lists.every(list => typeof list.length === 'number' && isFixed(list.item, seen)) &&
    part.spreads.every(spread => isFixed(spread, seen))
  )
}

/** The cost of a selection for this many objects. */
function total(part: Part, objects: number, variables: Variables): number {
  const known = new Map<Part, Map<number, number>>()

  const countOf = (length: Length) => (typeof length === 'number' ? length : length(variables))

  function sum({ values, scans, lists, spreads }: Part, count: number): number {
    let cost = values * count
    for (const scan of scans) cost += countOf(scan)
    for (const { length, paged, item } of lists) {
      const each = countOf(length)
      // The nested pages of one request share a limit on their entries, however many pages there
      // are.
      cost += sum(item, paged ? Math.min(count * each, Math.max(MAX_NESTED, each)) : count * each)
    }
    for (const spread of spreads) cost += once(spread, count)
    return cost
  }

  function once(spread: Part, count: number): number {
    const costs = known.get(spread) ?? new Map<number, number>()
    known.set(spread, costs)
    const cost = costs.get(count) ?? sum(spread, count)
    costs.set(count, cost)
    return cost
  }

  return Math.ceil(sum(part, objects))
}

function fieldOf(
  schema: GraphQLSchema,
  parent: GraphQLNamedType,
  name: string,
): GraphQLField<unknown, unknown> | undefined {
  if (parent === schema.getQueryType()) {
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef
  }
  return isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined
}

/**
 * The length of the lists of a page; undefined for a field without pages. The longest of several
 * arguments counts.
 */
function pageOf(
  { args }: GraphQLField<unknown, unknown>,
  node: FieldNode,
  defaults: Map<string, ValueNode | undefined>,
): Size | undefined {
  const possible = args.flatMap(arg => (Object.hasOwn(pageArguments, arg.name) ? [arg.name] : []))
  const [normal] = possible.flatMap(name => pageArguments[name]?.normal ?? [])
  if (normal === undefined) return undefined
  const given = (node.arguments ?? []).flatMap(({ name, value }) => {
    const most = possible.includes(name.value) ? pageArguments[name.value]?.most : undefined
    return most === undefined ? [] : [sizeOf(value, { normal, most }, defaults)]
  })
  const [only = { key: String(normal), of: normal }, ...others] = given
  if (others.length === 0) return only
  return {
    key: given.map(size => size.key).join(','),
    of: variables =>
      Math.max(...given.map(({ of }) => (typeof of === 'number' ? of : of(variables)))),
  }
}

function sizeOf(
  value: ValueNode,
  { normal, most }: { normal: number; most: number },
  defaults: Map<string, ValueNode | undefined>,
): Size {
  // Values out of range are refused or clamped when the list is read.
  const clamp = (count: number) => Math.min(Math.max(count, 1), most)
  if (value.kind === Kind.INT) return { key: value.value, of: clamp(Number(value.value)) }
  if (value.kind !== Kind.VARIABLE) return { key: 'normal', of: normal }
  const name = value.name.value
  const fallback = defaults.get(name)
  const otherwise = fallback?.kind === Kind.INT ? clamp(Number(fallback.value)) : normal
  return {
    key: `$${name}`,
    of: variables => {
      const given = Object.hasOwn(variables, name) ? variables[name] : undefined
      if (given === undefined) return otherwise
      if (given === null) return normal
      return typeof given === 'number' ? clamp(given) : most
    },
  }
}
