import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type SelectionSetNode,
} from 'graphql'

/**
 * How many pairs of fields validation may compare for merging. It compares all fields with the same
 * response name, which takes half a second for a document of 2,000 tokens. This many pairs take up
 * to 20 ms.
 */
export const MAX_PAIRS = 50_000
/** The weight of a pair of fragments, or of fields with a selection. */
const WITH_SELECTION = 5
/**
 * How many selections are visited while counting. A document has up to 1,000, and more if fragments
 * are merged with other fields.
 */
const MAX_STEPS = 20_000

/**
 * Whether a document, with its fragments expanded, has more pairs of fields than validation may
 * compare. The cost of this check is bounded for any document.
 */
export function hasManyPairs(document: DocumentNode): boolean {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const node of document.definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node)
  /** Selection sets that have already been counted unmerged. */
  const counted = new Set<SelectionSetNode>()
  // Fragments are also compared with each other, each pair once per document.
  let pairs = ((fragments.size * (fragments.size - 1)) / 2) * WITH_SELECTION
  let steps = 0
  const isOver = () => pairs > MAX_PAIRS || steps > MAX_STEPS

  function collect(
    set: SelectionSetNode,
    into: Map<string, FieldNode[]>,
    spread: Set<string>,
  ): void {
    for (const node of set.selections) {
      if (++steps > MAX_STEPS) return
      if (node.kind === Kind.FIELD) {
        const name = (node.alias ?? node.name).value
        const same = into.get(name)
        if (same) pairs += (same.push(node) - 1) * (node.selectionSet ? WITH_SELECTION : 1)
        else into.set(name, [node])
      } else if (node.kind === Kind.INLINE_FRAGMENT) collect(node.selectionSet, into, spread)
      else if (!spread.has(node.name.value)) {
        spread.add(node.name.value)
        const fragment = fragments.get(node.name.value)
        if (fragment) collect(fragment.selectionSet, into, spread)
      }
    }
  }

  /** Counts the pairs of merged selection sets, and of all sets below. */
  function count(sets: SelectionSetNode[]): void {
    const [only] = sets
    if (sets.length === 1 && only) {
      if (counted.has(only)) return
      counted.add(only)
    }
    const fields = new Map<string, FieldNode[]>()
    const spread = new Set<string>()
    for (const set of sets) collect(set, fields, spread)
    for (const nodes of fields.values()) {
      if (isOver()) return
      const below = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
      if (below.length > 0) count(below)
    }
  }

  for (const node of document.definitions) if ('selectionSet' in node) count([node.selectionSet])
  return isOver()
}
