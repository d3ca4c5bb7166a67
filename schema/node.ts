import { brandWithType } from '@pothos/core'
import type { NodeTable } from '../db/queries/node.ts'
import type { Caller } from '../src/access/caller.ts'
import { figure } from '../src/values/limits.ts'
import { batch } from './batch.ts'
import { builder } from './builder.ts'
import type { Context } from './context.ts'

interface NodeView {
  id: string
}

export const Node = builder.interfaceRef<NodeView>('Node').implement({
  description: 'An object with an id that node(id:) can find.',
  fields: t => ({ id: t.exposeID('id', { description: 'A global id, the same everywhere.' }) }),
})

/**
 * Finds a node by the id of its row, or by the part of its id after the prefix. Finds nothing that
 * the caller may not see.
 */
type Find<T> = (context: Context, caller: Caller, id: string) => Promise<T | null | undefined>

const finders = new Map<string, Find<NodeView>>()

/**
 * Registers how nodes are found by id.
 * @param source the table with this id as its key, or the prefix of ids without a row, such as
 * `member:`
 * @param type the name of their type, or a function that returns the type of a node
 */
export function findable<T extends NodeView>(
  source: NodeTable | `${string}:`,
  type: string | ((node: T) => string),
  find: Find<T>,
): void {
  finders.set(source, async (context, caller, id) => {
    const node = await find(context, caller, id)
    if (node) brandWithType(node, (typeof type === 'string' ? type : type(node)) as 'ID')
    return node
  })
}

const tablesOf = batch(({ services }, ids) => services.nodes.tablesOf(ids))

async function findNode(context: Context, caller: Caller, id: string): Promise<NodeView | null> {
  const [, prefix, rest = ''] = /^([a-z]+:)(.*)$/.exec(id) ?? []
  if (prefix) return (await finders.get(prefix)?.(context, caller, rest)) ?? null
  const found = await tablesOf(context, id)
  return (found && (await finders.get(found.source)?.(context, caller, id))) ?? null
}

builder.queryField('node', t =>
  t.withAuth({ signedIn: true }).field({
    type: Node,
    nullable: true,
    description: 'The node with this id; null if there is none that the caller may see.',
    args: { id: t.arg.id({ required: true, description: 'The id of a node.' }) },
    resolve: (_root, { id }, context) => findNode(context, context.caller, id),
  }),
)

const MAX_NODES = 100

builder.queryField('nodes', t =>
  t.withAuth({ signedIn: true }).field({
    type: [Node],
    nullable: { list: false, items: true },
    description:
      'The nodes with these ids, in the same order; null for ids without a node that the caller may see.',
    listSize: MAX_NODES,
    sizedBy: 'ids',
    args: {
      ids: t.arg.idList({
        required: true,
        maxItems: MAX_NODES,
        description: `Up to ${figure(MAX_NODES)} ids.`,
      }),
    },
    resolve: (_root, { ids }, context) => ids.map(id => findNode(context, context.caller, id)),
  }),
)
