import type { RestRoute } from '../plugins/rest.ts'
import { area } from '../plugins/rest.ts'
import type { Argument } from './builder.ts'

/** Whose files the routes are about. */
export interface Owner {
  /** In texts. */
  whose: string
  /** The path of its routes begins with it. */
  base: '/api' | '/api/workspaces/{workspace_id}'
  rest(route: Omit<RestRoute, 'area'>): RestRoute
  /** The name of a field: a verb, if it has one, and a noun. */
  name(verb: string, noun: string): string
  /** The argument that names the workspace. */
  place(arg: Argument): { workspace_id?: ReturnType<Argument['id']> }
  /** What its access rules are about. */
  on(root: object, args: object): { workspaceId: string } | { driveId: null }
  /** The statuses for members who may not. */
  denied: readonly number[]
}

const lowerFirst = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)

const workspaceFiles = area('workspace files', 'Files and folders of a workspace.')

/**
 * Declares the same routes twice: for the files of the caller, and for those of workspaces.
 * @param own the area of the former
 */
export function declareForOwners(
  own: ReturnType<typeof area>,
  declare: (owner: Owner) => void,
  ofWorkspaces = workspaceFiles,
): void {
  declare({
    whose: 'the caller',
    base: '/api',
    rest: own,
    name: (verb, noun) => lowerFirst(`${verb}${noun}`),
    place: () => ({}),
    on: () => ({ driveId: null }),
    denied: [],
  })
  declare({
    whose: 'a workspace',
    base: '/api/workspaces/{workspace_id}',
    rest: ofWorkspaces,
    name: (verb, noun) => lowerFirst(`${verb}Workspace${noun}`),
    place: arg => ({ workspace_id: arg.id({ required: true }) }),
    on: (_root, args) => ({ workspaceId: 'workspace_id' in args ? String(args.workspace_id) : '' }),
    denied: [403],
  })
}
