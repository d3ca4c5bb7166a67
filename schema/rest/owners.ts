import { operationsOf } from './operation.ts'

type Operation = ReturnType<typeof operationsOf>

/** The owner of the files behind a group of routes. */
interface Owner {
  /** Its name in descriptions. */
  whose: string
  /** The prefix of its paths. */
  base: '/api' | '/api/workspaces/{workspace_id}'
  operation: Operation
  /** The name of a field: a verb, if it has one, and a noun. */
  name(verb: string, noun: string): string
  /** The statuses for members without permission. */
  denied: readonly number[]
  /** Selects a value for one of the two owners. */
  of<T, W>(own: T, workspaces: W): T | W
}

const lowerFirst = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)

/** Folders of workspaces belong to this area, too. */
export const ofWorkspaceFiles = operationsOf('workspace files', 'Files and folders of a workspace.')

/**
 * Declares the same routes twice: for the files of the caller, and for the files of workspaces.
 * @param own declares the caller's routes
 */
export function declareForOwners(
  own: Operation,
  declare: (owner: Owner) => void,
  ofWorkspaces: Operation = ofWorkspaceFiles,
): void {
  declare({
    whose: 'the caller',
    base: '/api',
    operation: own,
    name: (verb, noun) => lowerFirst(`${verb}${noun}`),
    denied: [],
    of: own => own,
  })
  declare({
    whose: 'a workspace',
    base: '/api/workspaces/{workspace_id}',
    operation: ofWorkspaces,
    name: (verb, noun) => lowerFirst(`${verb}Workspace${noun}`),
    denied: [403],
    of: (_own, workspaces) => workspaces,
  })
}
