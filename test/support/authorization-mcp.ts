import type { DriveLevel } from '../../src/access/policies.ts'

/** A call of a tool by an assistant: one row of the table. */
export interface McpRow {
  tool: string
  level: Extract<DriveLevel, 'read' | 'write' | 'delete' | 'share'>
  /** The arguments for a file or folder of the owner. */
  given(aim: { fileId: string; name: string }): Record<string, unknown>
  /** Whether it names the file of the owner. Others then learn nothing about the file. */
  names: boolean
}

const named: McpRow['given'] = ({ fileId: id }) => ({ id })

export const mcpRows: McpRow[] = [
  { tool: 'search', level: 'read', names: false, given: ({ name }) => ({ query: name }) },
  { tool: 'list_drives', level: 'read', names: false, given: () => ({}) },
  { tool: 'list_folder', level: 'read', names: false, given: () => ({}) },
  { tool: 'recent', level: 'read', names: false, given: () => ({}) },
  { tool: 'file_details', level: 'read', names: true, given: named },
  { tool: 'read_text', level: 'read', names: true, given: named },
  { tool: 'preview', level: 'read', names: true, given: named },
  {
    tool: 'create_folder',
    level: 'write',
    names: false,
    given: ({ name }) => ({ path: `${name} folder` }),
  },
  {
    tool: 'write_text_file',
    level: 'write',
    names: false,
    given: ({ name }) => ({ path: `${name} new`, text: 'x' }),
  },
  {
    tool: 'move',
    level: 'write',
    names: true,
    given: ({ fileId: id, name }) => ({ id, new_name: `${name} moved` }),
  },
  { tool: 'move_to_trash', level: 'delete', names: true, given: named },
  { tool: 'create_link', level: 'share', names: true, given: named },
]

/** Who calls. */
export interface McpCaller {
  title: string
  /** The scopes of the credential; null if it is not valid. */
  levels: readonly string[] | null
  isOwner: boolean
}

export type McpOutcome = 'yes' | 401 | 403 | 'FILE_NOT_FOUND'

/** The expected outcome. It depends only on the row and the caller, not on the service. */
export function expectedByMcp({ level, names }: McpRow, caller: McpCaller): McpOutcome {
  if (caller.levels === null) return 401
  if (!caller.levels.includes(level)) return 403
  return caller.isOwner || !names ? 'yes' : 'FILE_NOT_FOUND'
}
