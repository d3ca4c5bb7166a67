import { typeBrandKey } from '@pothos/core'
import { validate as isUuid } from 'uuid'
import { FILE } from '../db/models/entry.ts'
import type { Caller } from '../src/auth/caller.ts'
import { mayUsePrivateFiles, mayUseWorkspaces } from '../src/auth/scopes.ts'
import type { Services } from '../src/services/index.ts'
import { builder } from './builder.ts'

interface NodeView {
  id: string
}

/** Ids are UUIDs and unique across all types, so they need no wrapping to be global. */
export const Node = builder.interfaceRef<NodeView>('Node').implement({
  description: 'Something with an id that node(id:) finds again.',
  fields: t => ({ id: t.exposeID('id') }),
})

builder.queryField('node', t =>
  t.withAuth({ signedIn: true }).field({
    type: Node,
    nullable: true,
    description:
      'A file, folder or share of the caller, or a workspace of theirs with its files and folders, by its id; null when there is none.',
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_root, { id }, { services, caller }) => {
      if (!isUuid(id)) return null
      const isPrivateKey = caller.via === 'api_key' && caller.workspaceId === null
      const isWorkspaceKey = caller.workspaceId !== null
      return (
        (isWorkspaceKey ? null : await findPersonal(services, caller, id)) ??
        (isPrivateKey ? null : await findInWorkspaces(services, caller, id))
      )
    },
  }),
)

/** Resolves the GraphQL type of a value. */
const as = <T extends NodeView>(type: string, value: T): T => ({ ...value, [typeBrandKey]: type })

/** @throws INSUFFICIENT_SCOPE regardless of the id, as the lists do */
async function findPersonal({ listings, shares }: Services, caller: Caller, id: string): Promise<NodeView | null> {
  mayUsePrivateFiles(caller, 'read')
  const entry = await listings.byId(caller.bucket, id)
  if (entry) return as(entry.kind === FILE ? 'File' : 'Folder', entry)
  const share = await shares.byId(caller, id)
  return share && as('Share', share)
}

/** @throws INSUFFICIENT_SCOPE for an existing node that the key of its workspace may not see */
async function findInWorkspaces(
  { listings, workspaces }: Services,
  caller: Caller,
  id: string,
): Promise<NodeView | null> {
  const workspace = await workspaces.byId(caller, id)
  if (workspace && mayUseWorkspaces(caller, 'workspaces:read')) return as('Workspace', workspace)
  const workspaceId = await listings.workspaceOf(caller, id)
  const room = workspaceId === null ? undefined : await workspaces.byId(caller, workspaceId)
  const entry = room && mayUseWorkspaces(caller, 'workspaces:files:read') && (await listings.byId(room.tree, id))
  if (!room || !entry) return null
  return as(entry.kind === FILE ? 'WorkspaceFile' : 'WorkspaceFolder', { ...entry, workspaceId: room.id })
}
