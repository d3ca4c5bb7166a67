import type { Command } from 'commander'
import type { McpOptions } from '../actions/mcp.ts'
import { declare, perform, several } from '../command.ts'

export function declareMcp(program: Command): void {
  const mcp = declare(program, 'mcp', {
    does: 'let an assistant on this computer use your files, over standard input and output',
    details: `Programs that start local MCP servers run this command. It uses the key of satchel login, and passes on only the
rights that you name with --scope: without it, the assistant can only search and read.`,
    examples: ['mcp', 'mcp --scope read --scope write', 'claude mcp add satchel -- satchel mcp'],
  }).option(
    '--scope <scope>',
    'what the assistant may do: read, write, share, delete (may be repeated; default: read)',
    several,
  )
  mcp.action((options: McpOptions) =>
    perform(mcp, async context => (await import('../actions/mcp.ts')).mcp(context, options)),
  )
}
